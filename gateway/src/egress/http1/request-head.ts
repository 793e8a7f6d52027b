/** The head of a request for an upstream: checked, so that no value can end it or frame the body, and written as text. */
import type { Readable } from 'node:stream';
import type { HeaderList } from '../../exchange.ts';
import { isFieldValue, isHttpToken } from '../../headers/field-syntax.ts';

export interface Http1Request {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Lower-case name and value in turn. Those of the connection are set here, the others that frame the body checked. */
  readonly headers: HeaderList;
  /** One that streams has the length that Content-Length says, or goes in chunks. */
  readonly body: Uint8Array | Readable | null;
  /** Scheme and authority to connect to. Default: those of the upstream. */
  readonly origin?: string | undefined;
  /** Protocol in which the connection shall go on; null: none. */
  readonly upgrade: string | null;
  /** Takes a new connection. Default: one that was kept, if there is one. */
  readonly newConnection?: boolean;
}

/** A request that can be written. */
export interface PreparedRequest {
  readonly method: string;
  /** Request line and headers, without the body's framing and the empty line. */
  readonly head: string;
  /** Null if it is empty. */
  readonly body: Uint8Array | Readable | null;
  /** Bytes of a body that streams; null: it goes in chunks. */
  readonly length: number | null;
  /** The method has a body, so that an empty one is announced. */
  readonly expectsBody: boolean;
  readonly upgrade: string | null;
  /** The connection may serve another request. */
  readonly keepsConnection: boolean;
}

/** The request cannot be written: a part of it would be read as something else. */
export class InvalidRequest extends Error {
  readonly code = 'GW_INVALID_REQUEST';
}

const WITH_BODY = new Set(['PUT', 'POST', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);

/** Roles of headers. */
const PLAIN = 0;
const HOST = 1;
const LENGTH = 2;
/** Set here, whatever the request says. */
const CONNECTION = 3;
const REFUSED = 4;
const INVALID = 5;

const ROLES: ReadonlyMap<string, number> = new Map([
  ['host', HOST],
  ['content-length', LENGTH],
  ['connection', CONNECTION],
  ['transfer-encoding', REFUSED],
  ['keep-alive', REFUSED],
  ['upgrade', REFUSED],
  ['expect', REFUSED],
]);
/** Roles of names that requests had; clients choose names, so that the number is limited. */
const knownNames = new Map(ROLES);
const MOST_KNOWN_NAMES = 1000;

const DIGITS = /^\d{1,15}$/;
/** 1 for characters of targets: what is visible, and bytes above ASCII. */
const PATH_CHARACTERS = new Uint8Array(256).fill(1, 0x21).fill(0, 0x7f, 0x80);

function isPath(path: string): boolean {
  if (path[0] !== '/') return false;
  for (let i = 0; i < path.length; i++) if (PATH_CHARACTERS[path.charCodeAt(i)] !== 1) return false;
  return true;
}

function roleOf(name: string): number {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const role = isHttpToken(name) ? (ROLES.get(name.toLowerCase()) ?? PLAIN) : INVALID;
  if (knownNames.size < MOST_KNOWN_NAMES) knownNames.set(name, role);
  return role;
}

/** `authority`: the value of `Host`, unless the request has one. Throws InvalidRequest. */
export function prepare(request: Http1Request, authority: string): PreparedRequest {
  const { method, path, upgrade } = request;
  const body = request.body instanceof Uint8Array && request.body.length === 0 ? null : request.body;
  if (!isHttpToken(method) || method === 'CONNECT')
    throw new InvalidRequest('the method cannot be sent to an upstream');
  if (!isPath(path)) throw new InvalidRequest('the path cannot be sent to an upstream');
  if (upgrade !== null && !isHttpToken(upgrade)) throw new InvalidRequest('the protocol to upgrade to is not valid');
  const expectsBody = WITH_BODY.has(method);
  // Servers that do not expect a body might take it for the next request, or send one with an answer to HEAD.
  const keepsConnection = upgrade === null && method !== 'HEAD' && (body === null || expectsBody);
  const fields = new Fields(request.headers);
  const connection =
    upgrade !== null
      ? `connection: upgrade\r\nupgrade: ${upgrade}`
      : `connection: ${method === 'HEAD' ? 'close' : 'keep-alive'}`;
  return {
    method,
    head: `${method} ${path} HTTP/1.1\r\nhost: ${fields.host ?? authority}\r\n${connection}\r\n${fields.text}`,
    body,
    length: fields.length,
    expectsBody,
    upgrade,
    keepsConnection,
  };
}

/** The headers of a request as they are written. */
class Fields {
  text = '';
  host: string | null = null;
  /** Content-Length. */
  length: number | null = null;

  constructor(headers: HeaderList) {
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] as string;
      const value = headers[i + 1] as string;
      if (!isFieldValue(value)) throw new InvalidRequest(`the value of the header ${name} is not valid`);
      const role = roleOf(name);
      if (role === PLAIN) this.text += `${name}: ${value}\r\n`;
      else this.#take(role, name, value);
    }
  }

  #take(role: number, name: string, value: string): void {
    if (role === HOST && this.host === null) this.host = value;
    else if (role === LENGTH && this.length === null && DIGITS.test(value)) this.length = Number(value);
    else if (role === INVALID) throw new InvalidRequest('the name of a header is not valid');
    else if (role !== CONNECTION) throw new InvalidRequest(`the header ${name} cannot be sent to an upstream`);
  }
}
