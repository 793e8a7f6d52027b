/** Many requests of one client at a time: from an address of its own, over HTTP/2. */
import { get } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';

export interface FloodOptions {
  readonly url: string;
  /** An address of this machine that the client has. */
  readonly from: string;
  /** Under way at a time; each is followed by another. */
  readonly inFlight: number;
  readonly connections?: number;
  /** The next request. */
  headers(): Readonly<Record<string, string>>;
}

export interface Flood {
  /** Answers so far, by status. */
  readonly answers: ReadonlyMap<number, number>;
  stop(): void;
}

export function startFlood({ url, from, inFlight, connections = 4, headers }: FloodOptions): Flood {
  const { host, hostname, port, origin } = new URL(url);
  const answers = new Map<number, number>();
  let isOver = false;
  const session = () => {
    const created = connectHttp2(origin, {
      createConnection: () => connect({ host: hostname, port: Number(port), localAddress: from }),
    });
    return created.on('error', () => {});
  };
  const sessions = Array.from({ length: connections }, session);
  const next = (on: ClientHttp2Session) => {
    if (isOver || on.destroyed) return;
    const request = on.request({ ':authority': host, ...headers() });
    request.on('response', ({ ':status': status = 0 }) => answers.set(status, (answers.get(status) ?? 0) + 1));
    request.on('error', () => {}).on('close', () => next(on));
    request.resume();
  };
  for (let i = 0; i < inFlight; i++) {
    const on = sessions[i % connections];
    if (on) next(on);
  }
  return {
    answers,
    stop() {
      isOver = true;
      for (const each of sessions) each.destroy();
    },
  };
}

/** One request from an address of this machine: its status, headers and body. */
export function askFrom(from: string, url: string, headers: Readonly<Record<string, string>> = {}) {
  return new Promise<{
    readonly status: number;
    readonly headers: NodeJS.Dict<string | string[]>;
    readonly body: string;
  }>((resolve, reject) => {
    const asked = get(url, { localAddress: from, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    asked.on('error', reject);
  });
}
