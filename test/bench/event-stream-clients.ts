/**
 * A thread with clients of a stream of events, for event-streams.ts: they read bare sockets, so that they cost as little
 * as can be. Answers each message with how many events came since the last one, and how late they were.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const DATA = Buffer.from('\ndata: ');
/** Of so many clients one reads what it gets: its order, and how late it is. The others count events. */
const READS_EACH = 20;

export interface ClientsOf {
  readonly port: number;
  readonly clients: number;
}

export interface Came {
  readonly open: number;
  /** Of the client that has the fewest, since it began. */
  readonly fewest: number;
  /** Of all, since it began. */
  readonly events: number;
  /** Milliseconds, since they were asked for last. */
  readonly delays: readonly number[];
}

class Client {
  delays: number[] = [];
  events = 0;
  open = false;
  readonly #reads: boolean;
  /** The end of what came, where the beginning of an event may be. */
  #rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);

  constructor(port: number, reads: boolean) {
    this.#reads = reads;
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /orders HTTP/1.1\r\nHost: a\r\n\r\n'));
    socket.once('data', () => {
      this.open = true;
      socket.on('data', (chunk: Buffer) => this.#take(chunk));
    });
  }

  #take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let read = 0;
    for (let at = bytes.indexOf(DATA); at >= 0; at = bytes.indexOf(DATA, read)) {
      const end = this.#reads ? bytes.indexOf('\n', at + DATA.length) : at + DATA.length;
      if (end < 0) break;
      if (this.#reads) this.#check(bytes.toString('latin1', at + DATA.length, end));
      this.events++;
      read = end;
    }
    const kept = this.#reads ? read : Math.max(read, bytes.length - DATA.length + 1);
    this.#rest = Buffer.from(bytes.subarray(kept));
  }

  #check(data: string): void {
    const [sequence, sentAt] = data.split(' ');
    if (Number(sequence) !== this.events) throw new Error(`message ${sequence} came in the place of ${this.events}`);
    this.delays.push(Date.now() - Number(sentAt));
  }
}

const { port, clients }: ClientsOf = workerData;
const all = Array.from({ length: clients }, (_, i) => new Client(port, i % READS_EACH === 0));

parentPort?.on('message', () => {
  const delays = all.flatMap((each) => each.delays);
  for (const each of all) each.delays = [];
  const came: Came = {
    open: all.filter(({ open }) => open).length,
    fewest: Math.min(...all.map(({ events }) => events)),
    events: all.reduce((sum, { events }) => sum + events, 0),
    delays,
  };
  parentPort?.postMessage(came);
});
