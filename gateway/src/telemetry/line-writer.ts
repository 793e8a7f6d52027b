/**
 * Writes log lines to a file descriptor in batches: concatenated as text, written by one asynchronous call at a time.
 * (pino's own destination costs 13 µs a line, and this one less than 1: measured on the access log.)
 */
import { write } from 'node:fs';
import { clientNetwork, siteOf } from '../client-network.ts';
import { printableLines } from '../text/printable.ts';

/** Characters that make a batch; whatever is there is written after 100 ms anyway. */
const BATCH = 64 << 10;
const EVERY_MS = 100;
/** Characters that may wait behind a reader that is slow; past it lines are dropped and counted, and traffic goes on. */
const MOST = 16 << 20;
/**
 * From here on the lines of each client may take as much as is left free: below it, owners of lines are not determined.
 */
const CONTENDED = MOST / 2;
/** The one character of ASCII that JSON does not escape and a terminal must not get. */
const DELETE = 0x7f;

export class LineWriter {
  readonly #fd: number;
  #text = '';
  /** Finished batches, in front of the text. */
  #batches: Uint8Array[] = [];
  #batchBytes = 0;
  #writing = false;
  #dropped = 0;
  /** Characters held since contention began, by owner. */
  readonly #held = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #waiting: (() => void)[] = [];

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#length > CONTENDED && !this.#hasShare(line)) {
      this.#dropped++;
      return;
    }
    this.#text += line;
    this.#writeSoon();
  }

  /** Writes whole lines that another writer has made printable. */
  writeBatch(lines: Uint8Array): void {
    if (this.#length + lines.length > CONTENDED) {
      for (const line of Buffer.from(lines).toString().split('\n')) if (line !== '') this.write(`${line}\n`);
      return;
    }
    this.#finishText();
    this.#addBatch(lines);
    this.#writeSoon();
  }

  get #length(): number {
    return this.#text.length + this.#batchBytes;
  }

  #writeSoon(): void {
    if (this.#length >= BATCH) this.#next();
    else if (this.#timer === null) {
      this.#timer = setTimeout(() => {
        this.#timer = null;
        this.#next();
      }, EVERY_MS);
      this.#timer.unref();
    }
  }

  #hasShare(line: string): boolean {
    const owner = ownerOf(line);
    const held = (this.#held.get(owner) ?? 0) + line.length;
    if (held > MOST - this.#length) return false;
    this.#held.set(owner, held);
    return true;
  }

  /** Resolves when everything so far is written, or the reader is gone. */
  flush(): Promise<void> {
    this.#next();
    if (!this.#writing) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #addBatch(batch: Uint8Array): void {
    this.#batches.push(batch);
    this.#batchBytes += batch.length;
  }

  #finishText(): void {
    if (this.#text === '') return;
    this.#addBatch(printableBytes(this.#text));
    this.#text = '';
  }

  #next(): void {
    if (this.#writing) return;
    if (this.#length === 0) {
      for (const resolve of this.#waiting.splice(0)) resolve();
      return;
    }
    if (this.#dropped > 0) {
      this.#text += `{"level":"warn","msg":"log lines dropped","count":${this.#dropped}}\n`;
      this.#dropped = 0;
    }
    this.#finishText();
    const [first = NOTHING] = this.#batches;
    const batch = this.#batches.length === 1 ? first : Buffer.concat(this.#batches);
    this.#batches = [];
    this.#batchBytes = 0;
    this.#held.clear();
    this.#writing = true;
    this.#send(batch);
  }

  #send(batch: Uint8Array): void {
    write(this.#fd, batch, (error, written = 0) => {
      if (error?.code === 'EAGAIN') return void setTimeout(() => this.#send(batch), 5);
      if (!error && written < batch.length) return this.#send(batch.subarray(written));
      this.#writing = false;
      if (error) this.#forget();
      this.#next();
    });
  }

  #forget(): void {
    this.#text = '';
    this.#batches = [];
    this.#batchBytes = 0;
  }
}

const NOTHING = new Uint8Array(0);

/** Most text is ASCII: one search of its bytes then costs a tenth of one of the text. */
function printableBytes(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return bytes.length === text.length && !bytes.includes(DELETE) ? bytes : Buffer.from(printableLines(text));
}

/** Returns the client's network of a line of the access log; other lines belong to the gateway. */
function ownerOf(line: string): string {
  const address = /"client_ip":"([^"]*)"/.exec(line)?.[1];
  return address === undefined ? '' : siteOf(clientNetwork(address));
}
