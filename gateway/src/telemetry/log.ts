/** Log lines go to standard output (reference 1, section 4.3), as JSON or, for people, pretty. */
import pino from 'pino';
import pretty from 'pino-pretty';
import { LineWriter } from './line-writer.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface Log {
  readonly logger: pino.Logger;
  /** Writes one finished line; the access log builds its own. */
  line(text: string): void;
  /** Resolves when everything so far is written. */
  flush(): Promise<void>;
}

export function createLog(level: Level, format: LogFormat): Log {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (format === 'pretty') {
    const stream = pretty({ sync: true, colorize: process.stdout.isTTY === true, singleLine: true });
    return { logger: pino(options, stream), line: (text) => void stream.write(text), flush: () => Promise.resolve() };
  }
  const writer = new LineWriter(1);
  return { logger: pino(options, writer), line: (text) => writer.write(text), flush: () => writer.flush() };
}
