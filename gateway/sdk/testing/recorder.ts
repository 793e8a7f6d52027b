/** A request without a connection, which records the effects of plugins. */
import { Readable } from 'node:stream';
import type { ClientCertificate } from '@gw/gateway/plugin-test-options';
import {
  type BodyStream,
  changeHeader,
  Exchange,
  type HeaderList,
  type Responder,
  renderProblem,
} from '@gw/gateway/plugin-testing';
import type { Answered, HeaderRecord, RequestInit } from './kit.ts';

const BLANK_CERTIFICATE: ClientCertificate = {
  subject: '',
  commonName: undefined,
  issuer: '',
  serial: '',
  fingerprint: '',
  notBefore: 0,
  notAfter: Number.POSITIVE_INFINITY,
  uris: [],
  dnsNames: [],
  emails: [],
};

/** A request's body that reads as one chunk. */
class RecordedBody extends Readable implements BodyStream {
  readonly waitsForClient = false;
  received = 0;
  limit = Number.POSITIVE_INFINITY;
  #bytes: Uint8Array | null;

  constructor(bytes: Uint8Array) {
    super();
    this.#bytes = bytes;
  }

  get isRead(): boolean {
    return this.readableEnded;
  }

  takeWhole(): null {
    return null;
  }

  limitTo(bytes: number): void {
    this.limit = Math.min(this.limit, bytes);
  }

  copyTo(): void {}

  override _read(): void {
    this.received += this.#bytes?.length ?? 0;
    this.push(this.#bytes);
    if (this.#bytes !== null) this.push(null);
    this.#bytes = null;
  }
}

const nobody: Responder = {
  headSent: false,
  send: () => {},
  stream: () => {
    throw new Error('a recorded request has no connection to stream to');
  },
  abort: () => {},
};

export function headerList(headers: HeaderRecord = {}): HeaderList {
  return Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).flatMap((one) => [name.toLowerCase(), one]),
  );
}

export function headerRecord(headers: HeaderList): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    record[name] = record[name] === undefined ? value : `${record[name]}, ${value}`;
  }
  return record;
}

/** Makes the request that `init` describes. */
export function recordedExchange(init: RequestInit): Exchange {
  const bytes = init.body === undefined ? null : Buffer.from(init.body);
  const exchange = new Exchange(nobody, {
    method: init.method ?? 'GET',
    target: init.path ?? '/',
    scheme: 'http',
    headers: headerList(init.headers),
    clientIp: init.clientIp ?? '192.0.2.1',
    body: bytes && new RecordedBody(bytes),
  });
  if (init.upgrade) exchange.upgrade = { protocol: init.upgrade, keyed: true };
  if (bytes) exchange.readBody = () => Promise.resolve(bytes);
  const { operation } = init;
  if (operation) {
    const params = Object.entries(operation.params ?? {});
    exchange.operation = {
      path: operation.path,
      operationId: operation.operationId,
      api: 'test',
      admitted: [],
      paramNames: params.map(([name]) => name),
      examples: null,
      streamed: null,
      inputs: null,
    };
    exchange.params = params.map(([, value]) => value);
    exchange.sentParams = params.map(
      ([name, value]) => operation.sentParams?.[name] ?? encodedParam(value, operation.path.includes(`{${name}+}`)),
    );
  }
  if (init.clientCertificate) exchange.clientCertificate = { ...BLANK_CERTIFICATE, ...init.clientCertificate };
  if (init.context) exchange.context = new Map(Object.entries(init.context));
  return exchange;
}

/** Slashes of greedy ones stay. */
function encodedParam(value: string, greedy: boolean): string {
  return greedy ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
}

/** The answer as the client would get it: with the headers that plugins staged. */
export function renderedAnswer(exchange: Exchange): Answered | null {
  const { answer } = exchange;
  if (answer === null) return null;
  const isProblem = 'problem' in answer;
  const headers: HeaderList = isProblem
    ? ['content-type', 'application/problem+json', ...(answer.problem.headers ?? [])]
    : [...(answer.headers ?? [])];
  for (const { op, name, value } of exchange.response.staged ?? []) changeHeader(headers, op, name, value);
  const body = isProblem ? renderProblem(answer.problem) : Buffer.from(answer.body ?? '').toString();
  return { status: isProblem ? answer.problem.status : answer.status, headers: headerRecord(headers), body };
}
