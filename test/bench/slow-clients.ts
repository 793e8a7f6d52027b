/**
 * A thread for slow-connections.ts: clients that send one byte a second, evenly spread over the second, and, on another
 * thread, one that sends requests at a fixed rate and notes how long each takes.
 */
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export type SlowThread =
  | {
      readonly kind: 'slow';
      readonly port: number;
      readonly clients: number;
      readonly head: string;
      readonly loop: string;
    }
  | { readonly kind: 'probe'; readonly port: number; readonly perSecond: number };

export interface SlowCount {
  readonly open: number;
  /** Connections that ended before they should. */
  readonly lost: number;
  readonly bytes: number;
}

/** Milliseconds between looks at who has to send. */
const TICK_MS = 2;
/** Connections that are opened in a tick. */
const OPENED = 20;

/** `head` is sent at once; then bytes of `loop`, again and again, one a second. */
class SlowClients {
  readonly #sockets: Socket[] = [];
  readonly #sent: number[] = [];
  readonly #work: Extract<SlowThread, { kind: 'slow' }>;
  readonly #ticking: NodeJS.Timeout;
  #open = 0;
  #lost = 0;
  #bytes = 0;
  #next = 0;
  #since = 0;

  constructor(work: Extract<SlowThread, { kind: 'slow' }>) {
    this.#work = work;
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  count(): SlowCount {
    return { open: this.#open, lost: this.#lost, bytes: this.#bytes };
  }

  stop(): void {
    clearInterval(this.#ticking);
    for (const socket of this.#sockets) socket.removeAllListeners('close').destroy();
  }

  #tick(): void {
    const { clients, loop } = this.#work;
    for (let i = 0; i < OPENED && this.#sockets.length < clients; i++) this.#connect();
    if (this.#sockets.length < clients) return;
    if (this.#since === 0) this.#since = performance.now();
    const due = Math.floor(((performance.now() - this.#since) / 1000) * clients);
    for (; this.#next < due; this.#next++) {
      const at = this.#next % clients;
      const sent = this.#sent[at] ?? 0;
      this.#sent[at] = sent + 1;
      this.#sockets[at]?.write(loop[sent % loop.length] ?? '');
      this.#bytes++;
    }
  }

  #connect(): void {
    const socket = connect(this.#work.port, '127.0.0.1', () => {
      this.#open++;
      if (this.#work.head !== '') socket.write(this.#work.head);
    });
    socket
      .on('error', () => {})
      .on('close', () => {
        this.#lost++;
        this.#open--;
      });
    this.#sockets.push(socket.resume());
    this.#sent.push(0);
  }
}

/** Sends requests when they are due, whether or not earlier ones have their answers: delays count from then. */
class Probe {
  #free: Socket[] = [];
  readonly #port: number;
  readonly #perSecond: number;
  readonly #from = performance.now();
  #sent = 0;
  #delays: number[] = [];

  constructor(port: number, perSecond: number) {
    this.#port = port;
    this.#perSecond = perSecond;
    setInterval(() => this.#tick(), 1);
  }

  delays(): readonly number[] {
    const delays = this.#delays;
    this.#delays = [];
    return delays;
  }

  #tick(): void {
    const due = Math.floor(((performance.now() - this.#from) / 1000) * this.#perSecond);
    for (; this.#sent < due; this.#sent++) this.#send();
  }

  #send(): void {
    const socket = this.#free.pop() ?? this.#connect();
    const from = performance.now();
    socket.once('data', () => {
      this.#delays.push(performance.now() - from);
      this.#free.push(socket);
    });
    socket.write('GET /fast HTTP/1.1\r\nHost: a\r\n\r\n');
  }

  /** The gateway may close it while it is idle. */
  #connect(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    socket
      .on('error', () => {})
      .on('close', () => {
        this.#free = this.#free.filter((each) => each !== socket);
      });
    return socket;
  }
}

const work: SlowThread = workerData;
if (work.kind === 'slow') {
  const slow = new SlowClients(work);
  parentPort?.on('message', (wanted) => {
    if (wanted === 'stop') slow.stop();
    parentPort?.postMessage(slow.count());
  });
} else {
  const probe = new Probe(work.port, work.perSecond);
  parentPort?.on('message', () => parentPort?.postMessage(probe.delays()));
}
