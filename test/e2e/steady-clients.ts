/**
 * Clients of four kinds at a steady rate, in a process of their own so that nothing else delays them: HTTP/1.1 and
 * HTTP/2, each over connections that are kept and over a new one for each request. Whatever is not answered with 200
 * is a failure. A stream that was refused has not been looked at, and goes to another connection, as every client of
 * HTTP/2 does when a server says GOAWAY (RFC 9113, section 8.7). Arguments: URL, requests a second; every second a line
 * of JSON with what was sent, moved to another connection, and failed, and the longest time in ms that this process
 * could not run.
 */
import { request as httpRequest, Agent as PlainAgent, type RequestOptions } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import type { Failure } from './steady-load.ts';

const [address = '', rate = '200'] = process.argv.slice(2);
const url = new URL(address);
/** As clients have it: what is not answered by then is lost, and not only late since the machine is busy. */
const TIMEOUT_MS = 60_000;
const tls = { rejectUnauthorized: false };

type Send = () => Promise<number>;

const totals = { sent: 0, answered: 0, moved: 0, failures: [] as Failure[], stoodStillMs: 0 };

/**
 * No port twice within the minutes for which a node remembers a connection: it would send the next one from there where
 * the first went, to a pod that may be gone, as no client of its own address sees it. Below those that systems hand out,
 * and where the last process ended, if it ran lately.
 */
const PORTS = { first: 12_000, count: 15_000 };
let ports = Math.floor((Date.now() / 1000) * Number(rate));
const localPort = () => PORTS.first + (ports++ % PORTS.count);
/** Somebody else has the port, or had it lately: the next one will do. */
const isTaken = (error: unknown) => error instanceof Error && /EADDRINUSE|EADDRNOTAVAIL/.test(error.message);

const secure = url.protocol === 'https:';
/** Each in its turn, so that none is idle while its server ends: it is told with an answer. */
const kept = secure
  ? new Agent({ keepAlive: true, maxSockets: 10, scheduling: 'fifo', ...tls })
  : new PlainAgent({ keepAlive: true, maxSockets: 10, scheduling: 'fifo' });

function http1(keepAlive: boolean): Send {
  return async () => {
    for (;;) {
      try {
        return await requested(keepAlive ? { agent: kept } : { agent: false, localPort: localPort() });
      } catch (error) {
        if (keepAlive || !isTaken(error)) throw error;
      }
    }
  };
}

function requested(connection: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { ...tls, ...connection, timeout: TIMEOUT_MS };
    const sent = (secure ? httpsRequest : httpRequest)(url, options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.on('error', reject);
    sent.end();
  });
}

/** One stream of a session: the status of its answer. */
function stream(session: ClientHttp2Session): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = session.request({ ':path': url.pathname + url.search });
    let status = 0;
    sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error('no answer in time')));
    sent.on('response', (headers) => {
      status = Number(headers[':status']);
    });
    sent.on('error', reject);
    sent.on('close', () => (status === 0 ? reject(new Error('the stream ended without an answer')) : resolve(status)));
    sent.resume();
    sent.end();
  });
}

function open(): ClientHttp2Session {
  const options = { ...tls, localPort: localPort() };
  const session = connect(url.origin, options);
  // What it means for requests is said by their streams.
  session.on('error', () => {});
  return session;
}

/** Clients try a few connections: the next one may lead to a server that ends as well. */
const CONNECTIONS = 4;

/** On another session where the one before had been told GOAWAY before the request was sent. */
async function streamOn(session: () => ClientHttp2Session): Promise<number> {
  for (let connection = 1; ; connection++) {
    try {
      return await stream(session());
    } catch (error) {
      if (isTaken(error)) continue;
      const refused = error instanceof Error && error.message.includes('NGHTTP2_REFUSED_STREAM');
      if (!refused || connection === CONNECTIONS) throw error;
      totals.moved++;
    }
  }
}

/** Sessions as browsers use them: one until the server says GOAWAY, then the next. */
function http2Kept(): Send {
  let current: ClientHttp2Session | undefined;
  const session = () => {
    if (current && !current.closed && !current.destroyed) return current;
    const opened = open();
    const retire = () => {
      if (current === opened) current = undefined;
    };
    opened.on('goaway', () => {
      retire();
      opened.close();
    });
    opened.on('close', retire);
    current = opened;
    return opened;
  };
  return () => streamOn(session);
}

function http2New(): Send {
  return async () => {
    const opened: ClientHttp2Session[] = [];
    try {
      return await streamOn(() => {
        const session = open();
        opened.push(session);
        return session;
      });
    } finally {
      for (const session of opened) session.close();
    }
  };
}

const clients: readonly (readonly [name: string, send: Send])[] = [
  ['h1-kept', http1(true)],
  ['h1-new', http1(false)],
  ['h2-kept', http2Kept()],
  ['h2-new', http2New()],
];

const running = new Set<Promise<void>>();
let next = 0;

function sendOne(): void {
  const [name, send] = clients[next++ % clients.length] ?? ['', http1(true)];
  totals.sent++;
  const sentAt = performance.now();
  const fail = (what: string) => {
    totals.failures.push({
      at: new Date().toISOString(),
      client: name,
      what,
      ms: Math.round(performance.now() - sentAt),
    });
  };
  const one = send()
    .then(
      (status) => {
        if (status === 200) totals.answered++;
        else fail(String(status));
      },
      (error: unknown) => {
        const code = error instanceof Error && 'code' in error ? `${String(error.code)} ` : '';
        fail(code + (error instanceof Error ? error.message : String(error)));
      },
    )
    .finally(() => running.delete(one));
  running.add(one);
}

/** Evenly, and caught up with where the timer was late. */
const started = performance.now();
let ticked = started;
const timer = setInterval(() => {
  const now = performance.now();
  totals.stoodStillMs = Math.max(totals.stoodStillMs, Math.round(now - ticked));
  ticked = now;
  const due = Math.floor(((now - started) / 1000) * Number(rate));
  // What a pause of this process has put off comes over the next ticks, not at once.
  for (let i = 0; i < 5 && totals.sent < due; i++) sendOne();
}, 5);
const report = setInterval(() => process.stdout.write(`${JSON.stringify(totals)}\n`), 1000);

process.on('SIGTERM', async () => {
  clearInterval(timer);
  clearInterval(report);
  await Promise.all(running);
  process.stdout.write(`${JSON.stringify(totals)}\n`, () => process.exit(0));
});
