/**
 * Connections to control planes: shared by the projects of one, and protected against servers that are not control
 * planes.
 */
import { createSecureContext } from 'node:tls';
import { ApiError, ControlClient, PROBLEMS, reasonOf } from '@gw/control/client';
import { createConnector, type EgressGuard, EgressRefused, limitInformational } from '@gw/gateway/egress';
import { messageOf } from '@gw/gateway/message-of';
import { Agent, type Dispatcher } from 'undici';

/** Address and credentials of a control plane. */
export interface Access {
  /** URL of the REST API. */
  readonly url: string;
  /** Never logged. */
  readonly token: string;
  /** PEM of the certificates that its own is checked with. Default: those that the system trusts. */
  readonly ca?: string;
}

const CONNECT_MS = 10_000;
/** Milliseconds without a byte: event streams have a comment every 15 seconds. */
const SILENCE_MS = 60_000;
/** Connections for the requests of all projects of one control plane. */
const CONNECTIONS = 8;
/** Bytes of one answer: a server that a tenant names may send anything. */
const MAX_ANSWER = 16 << 20;
/** Event streams of one control plane; further projects are polled. */
const MAX_STREAMS = 100;

interface Shared {
  readonly requests: Dispatcher;
  readonly streams: Dispatcher;
  users: number;
  open: number;
}

/** A project's connection to a control plane. */
export class Connection {
  readonly client: ControlClient;
  /** Client for event streams, each of which occupies a connection. */
  readonly events: ControlClient;
  readonly #shared: Shared;
  readonly #release: () => void;

  constructor({ url, token }: Access, shared: Shared, release: () => void) {
    const server = url.replace(/\/+$/, '');
    this.client = new ControlClient({ server, token, fetch: through(shared.requests) });
    this.events = new ControlClient({ server, token, fetch: through(shared.streams) });
    this.#shared = shared;
    this.#release = release;
  }

  /** Takes one of the streams that may be open; returns false if all are taken. */
  takeStream(): boolean {
    if (this.#shared.open >= MAX_STREAMS) return false;
    this.#shared.open++;
    return true;
  }

  giveStream(): void {
    this.#shared.open--;
  }

  close(): void {
    this.#release();
  }
}

export class Connections {
  readonly guard: EgressGuard;
  readonly #shared = new Map<string, Shared>();

  /** `guard`: addresses that the operator may connect to, for all tenants (docs/decisions.md#tenant-addresses). */
  constructor(guard: EgressGuard) {
    this.guard = guard;
  }

  /** Opens a connection. Throws if the CA is not a certificate. */
  open(access: Access): Connection {
    const key = JSON.stringify([new URL(access.url).origin, access.ca]);
    const shared = this.#shared.get(key) ?? this.#agents(access.ca);
    this.#shared.set(key, shared);
    shared.users++;
    return new Connection(access, shared, () => {
      if (--shared.users > 0) return;
      this.#shared.delete(key);
      void shared.requests.destroy();
      void shared.streams.destroy();
    });
  }

  #agents(ca: string | undefined): Shared {
    const connect = createConnector({
      guard: this.guard,
      timeoutMs: CONNECT_MS,
      ...(ca === undefined ? {} : { secureContext: createSecureContext({ ca }) }),
    });
    const options = { connect, bodyTimeout: SILENCE_MS, headersTimeout: SILENCE_MS };
    return {
      requests: new Agent({ ...options, connections: CONNECTIONS, maxResponseSize: MAX_ANSWER }).compose(
        limitInformational,
      ),
      streams: new Agent({ ...options, connections: MAX_STREAMS }).compose(limitInformational),
      users: 0,
      open: 0,
    };
  }
}

const through =
  (dispatcher: Dispatcher): typeof fetch =>
  (input, init) =>
    // Its type is from another copy of undici than the runtime's.
    fetch(input, Object.assign({}, init, { dispatcher }));

/**
 * Describes a failure in one line, in our own words: a server's answer may contain a secret of its owner
 * (docs/decisions.md#tenant-addresses).
 */
export function failureText(server: string, error: unknown): string {
  if (error instanceof ApiError && error.status === 0) {
    const why = reasonOf(error.cause);
    return `${server} does not answer: ${why}${why.endsWith('--egress-allow') ? ' of the operator' : ''}`;
  }
  if (error instanceof ApiError) return `${server} ${answerText(error)}`;
  if (error instanceof SyntaxError) return `${server} does not answer with JSON: is it gw-control?`;
  if (error instanceof DOMException && error.name === 'TimeoutError') return `${server} did not answer in time`;
  return messageOf(error);
}

/** Returns `answered 409 (Conflict)`: the status, and its title if the control plane has sent one. */
export function answerText({ status, problem }: ApiError): string {
  const meaning = Object.entries(PROBLEMS).find(([name]) => problem?.type === `urn:gw:error:${name}`);
  return meaning
    ? `answered ${status} (${meaning[1].title}); its log has more`
    : `answered ${status} without a problem document of a control plane: is it gw-control?`;
}

/** Reports whether the egress guard refused the connection. */
export function isForbidden(error: unknown): boolean {
  if (!(error instanceof ApiError) || !(error.cause instanceof Error)) return false;
  return error.cause.cause instanceof EgressRefused;
}
