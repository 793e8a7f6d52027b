/** Log lines go to standard output (docs/reference/gateway.md#logs), as JSON or, for people, pretty. */
import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import pino from 'pino';
import { errorCode } from '../text/error-code.ts';
import { printableLines } from '../text/printable.ts';
import { LineWriter } from './line-writer.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface Log {
  readonly logger: pino.Logger;
  readonly level: Level;
  /** The level that it was made with. */
  readonly configuredLevel: Level;
  /** Lines at level info are written: the access log is wanted. */
  readonly informs: boolean;
  /** Sets the level from now on, until the process ends. */
  setLevel(level: Level): void;
  /** Writes one finished line; the access log builds its own. */
  line(text: string): void;
  /** Writes finished lines of another process. */
  lines(bytes: Uint8Array): void;
  /** Resolves when everything so far is written. */
  flush(): Promise<void>;
}

/**
 * `fd`: 2 for commands whose standard output is their result. `coloured`: of pretty lines; by default those on a
 * terminal.
 */
export async function createLog(level: Level, format: LogFormat, fd: 1 | 2 = 1, coloured = isatty(fd)): Promise<Log> {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (format === 'pretty') {
    const { default: pretty } = await import('pino-pretty');
    const destination = new Writable({
      write(chunk, _encoding, done) {
        writeAll(fd, printableLines(String(chunk)));
        done();
      },
    });
    const stream = pretty({ destination, colorize: coloured, singleLine: true });
    const output = {
      line: (text: string) => void stream.write(text),
      lines: (bytes: Uint8Array) => void stream.write(Buffer.from(bytes).toString()),
      flush: () => Promise.resolve(),
    };
    return new LeveledLog(pino(options, stream), level, output);
  }
  const writer = new LineWriter(fd);
  const output = {
    line: (text: string) => writer.write(text),
    lines: (bytes: Uint8Array) => writer.writeBatch(bytes),
    flush: () => writer.flush(),
  };
  return new LeveledLog(pino(options, writer), level, output);
}

const ASLEEP = new Int32Array(new SharedArrayBuffer(4));
const RETRY_MS = 5;

/** Waits for a reader that is slow, as a terminal may be. */
function writeAll(fd: number, text: string): void {
  let rest: Buffer = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') return;
      Atomics.wait(ASLEEP, 0, 0, RETRY_MS);
    }
  }
}

class LeveledLog implements Log {
  readonly logger: pino.Logger;
  readonly configuredLevel: Level;
  readonly line: Log['line'];
  readonly lines: Log['lines'];
  readonly flush: Log['flush'];
  level: Level;
  informs: boolean;

  constructor(logger: pino.Logger, level: Level, output: Pick<Log, 'line' | 'lines' | 'flush'>) {
    this.logger = logger;
    this.configuredLevel = level;
    this.level = level;
    this.informs = logger.isLevelEnabled('info');
    this.line = output.line;
    this.lines = output.lines;
    this.flush = output.flush;
  }

  setLevel(level: Level): void {
    this.logger.level = level;
    this.level = level;
    this.informs = this.logger.isLevelEnabled('info');
  }
}
