/**
 * An authorization server that exchanges tokens, written from the text of RFC 8693: the OpenID provider of other suites
 * (test/serve/provider.ts) does not exchange any. It fails as a test wants.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { base64url, newKey, signToken } from '../../../../test/serve/issuer.ts';

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
export const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

export interface Client {
  readonly id: string;
  /** Empty: a public client. */
  readonly secret: string;
}

interface Asked {
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

export interface AuthorizationServer {
  readonly url: string;
  readonly tokenEndpoint: string;
  /** Subjects by their tokens; others are invalid. */
  readonly subjects: Map<string, string>;
  /** Targets that it issues tokens for, and scopes. */
  readonly targets: Set<string>;
  readonly scopes: Set<string>;
  /** Members of its answers in place of its own; undefined leaves one out. */
  answers: Record<string, unknown>;
  /** Answers instead of it; false where it is to answer as usual. */
  instead: ((request: IncomingMessage, response: ServerResponse, form: URLSearchParams) => boolean) | null;
  /** Exchanges that it was asked for. */
  readonly asked: Asked[];
  /** A new token of a caller. */
  grant(subject: string, token?: string): string;
  down(): Promise<void>;
  up(): Promise<void>;
}

export async function startAuthorizationServer(client: Client): Promise<AuthorizationServer> {
  const key = newKey('ES256', 'exchanged');
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      server.asked.push({ headers: request.headers, form });
      if (server.instead?.(request, response, form)) return;
      const { status, body } = exchange(request, form);
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(JSON.stringify(body));
    });
  };
  const http = createServer({ maxHeaderSize: 64 << 10 }, listener);
  const listen = (port: number) => new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = http.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const server: AuthorizationServer = {
    url,
    tokenEndpoint: `${url}/token`,
    subjects: new Map(),
    targets: new Set(['orders', 'billing', 'https://orders.example/v1']),
    scopes: new Set(['read', 'write']),
    answers: {},
    instead: null,
    asked: [],
    grant: (subject, token = crypto.randomUUID()) => {
      server.subjects.set(token, subject);
      return token;
    },
    down: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
    up: () => listen(port),
  };

  function exchange(request: IncomingMessage, form: URLSearchParams): { status: number; body: object } {
    const fails = (error: string, status = 400) => ({ status, body: { error, error_description: 'planted-text' } });
    if (request.method !== 'POST' || request.url !== '/token') return fails('not_found', 404);
    if (!knows(client, request, form)) return fails('invalid_client', 401);
    if (form.get('grant_type') !== GRANT) return fails('unsupported_grant_type');
    const subject = server.subjects.get(form.get('subject_token') ?? '');
    if (subject === undefined || !form.has('subject_token_type')) return fails('invalid_request');
    if (form.has('actor_token') !== form.has('actor_token_type')) return fails('invalid_request');
    const targets = [...form.getAll('audience'), ...form.getAll('resource')];
    if (!targets.every((each) => server.targets.has(each))) return fails('invalid_target');
    const scopes = (form.get('scope') ?? '').split(' ').filter(Boolean);
    if (!scopes.every((each) => server.scopes.has(each))) return fails('invalid_scope');
    return { status: 200, body: { ...issued(subject, targets, scopes, form), ...server.answers } };
  }

  function issued(subject: string, targets: readonly string[], scopes: readonly string[], form: URLSearchParams) {
    const actor = form.get('actor_token');
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      iss: url,
      sub: subject,
      aud: targets,
      ...(scopes.length > 0 ? { scope: scopes.join(' ') } : {}),
      ...(actor === null ? {} : { act: { sub: actor } }),
      iat,
      exp: iat + 600,
      jti: crypto.randomUUID(),
    };
    return {
      access_token: signToken(key, claims),
      issued_token_type: form.get('requested_token_type') ?? ACCESS_TOKEN,
      token_type: 'Bearer',
      expires_in: 600,
    };
  }
  return server;
}

/** By one method of those of RFC 6749, section 2.3.1, or a public client by its name alone. */
function knows({ id, secret }: Client, { headers }: IncomingMessage, form: URLSearchParams): boolean {
  const [scheme, credentials = ''] = (headers.authorization ?? '').split(' ');
  if (secret === '') return scheme === '' && form.get('client_id') === id && !form.has('client_secret');
  if (scheme === 'Basic') {
    const [name = '', word = ''] = Buffer.from(credentials, 'base64').toString().split(':').map(formDecoded);
    return name === id && word === secret && !form.has('client_secret');
  }
  return form.get('client_id') === id && form.get('client_secret') === secret;
}

function formDecoded(text: string): string {
  return new URLSearchParams(`a=${text}`).get('a') ?? '';
}

/** What the claims of a token say, whoever has signed it. */
export function claimsOf(token: string): Record<string, unknown> {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  return claims as Record<string, unknown>;
}

/** A token of three parts with these claims, signed by nobody. */
export function unsignedToken(claims: object): string {
  return `${base64url({ alg: 'ES256' })}.${base64url(claims)}.${base64url(crypto.randomUUID())}`;
}
