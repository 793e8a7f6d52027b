/** An issuer of tokens that a test has in its hands: discovery, key set and introspection, which fail on demand. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export type SigningAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'ES256' | 'ES384' | 'ES512';

const CURVES = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const;

export interface SigningKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function newKey(alg: SigningAlgorithm, kid: string): SigningKey {
  const pair =
    alg === 'ES256' || alg === 'ES384' || alg === 'ES512'
      ? generateKeyPairSync('ec', { namedCurve: CURVES[alg] })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { kid, alg, ...pair };
}

/** As it stands in a key set. */
export function jwkOf({ kid, alg, publicKey }: SigningKey): Record<string, unknown> {
  return { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
}

export function base64url(value: string | Uint8Array | object): string {
  const bytes = typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value);
  return Buffer.from(bytes).toString('base64url');
}

/** The signature of `input` in the form of JWS. */
export function signatureOf(input: string, { alg, privateKey }: SigningKey): string {
  const hash = `sha${alg.slice(2)}`;
  return sign(hash, Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
}

/** A signed token, whatever it claims; `header` and `claims` may also be text as it is to stand there. */
export function signToken(key: SigningKey, claims: object | string, header: object | string = {}): string {
  const head = typeof header === 'string' ? header : { alg: key.alg, kid: key.kid, typ: 'JWT', ...header };
  const input = `${base64url(head)}.${base64url(claims)}`;
  return `${input}.${signatureOf(input, key)}`;
}

/** Claims that hold for five minutes. */
export function goodClaims(issuer: string, more: object = {}): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, sub: 'alice', aud: 'urn:books', iat: now, exp: now + 300, ...more };
}

export interface Issuer {
  readonly url: string;
  /** Keys that the key set holds. */
  keys: SigningKey[];
  /** Further members of the discovery document. */
  document: Record<string, unknown>;
  /** Answers instead of it; undefined where it is to answer as usual. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  /** What it says of tokens that it is asked about; others are not active. */
  readonly active: Map<string, Record<string, unknown>>;
  /** Paths that were asked for so far, and the headers. */
  readonly asked: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  asks(path: string): number;
  /** A token signed with the newest key. */
  token(claims?: object, header?: object): string;
  /** Goes away, with all connections. */
  down(): Promise<void>;
  /** Comes back at the same address. */
  up(): Promise<void>;
}

/** `tls`: paths of a certificate and its key, for an issuer at https://. */
export async function startIssuer(tls?: { readonly cert: string; readonly key: string }): Promise<Issuer> {
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString()));
  };
  const server = tls
    ? createTlsServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, listener)
    : createServer(listener);
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer: Issuer = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    keys: [newKey('RS256', 'first')],
    document: {},
    instead: null,
    active: new Map(),
    asked: [],
    asks: (path) => issuer.asked.filter((each) => each.path === path).length,
    token: (claims = {}, header = {}) =>
      signToken(issuer.keys.at(-1) as SigningKey, goodClaims(issuer.url, claims), header),
    down: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    up: () => listen(port),
  };

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { url: path = '', headers } = request;
    issuer.asked.push({ path, headers });
    if (issuer.instead?.(request, response)) return;
    response.setHeader('content-type', 'application/json');
    if (path === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/jwks`, ...issuer.document }));
    } else if (path === '/jwks') {
      response.end(JSON.stringify({ keys: issuer.keys.map(jwkOf) }));
    } else if (path === '/introspect') {
      const token = new URLSearchParams(body).get('token') ?? '';
      response.end(JSON.stringify(issuer.active.get(token) ?? { active: false }));
    } else {
      response.writeHead(404).end('{}');
    }
  }
  return issuer;
}
