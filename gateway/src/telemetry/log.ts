/** Log lines go to standard output (reference 1, section 4.3), as JSON or, for people, pretty. */
import pino from 'pino';
import pretty from 'pino-pretty';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface Log {
  readonly logger: pino.Logger;
  /** Writes one finished line; the access log builds its own. */
  line(text: string): void;
  /** Writes what is buffered, at once. */
  flush(): void;
}

/** Bytes kept back before they are written together; whatever is there is written every 200 ms anyway. */
const BUFFER = 16 << 10;

export function createLog(level: Level, format: LogFormat): Log {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (format === 'pretty') {
    const stream = pretty({ sync: true, colorize: process.stdout.isTTY === true, ignore: 'pid,hostname' });
    return { logger: pino(options, stream), line: (text) => void stream.write(text), flush: () => {} };
  }
  const destination = pino.destination({ dest: 1, sync: false, minLength: BUFFER });
  const timer = setInterval(() => destination.flush(), 200);
  timer.unref();
  return {
    logger: pino(options, destination),
    line: (text) => void destination.write(text),
    flush: () => {
      try {
        destination.flushSync();
      } catch {
        // Nothing is open yet, or standard output is closed: there is no place left to say so.
      }
    },
  };
}
