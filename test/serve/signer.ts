/** A client's side of HTTP Message Signatures (RFC 9421, hmac-sha256), written from the RFC alone. */
import { createHash, createHmac } from 'node:crypto';

export interface Signed {
  readonly method: string;
  readonly url: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Signing {
  readonly keyid: string;
  readonly secret: string | Uint8Array;
  /** Default: method, path and query, and the digest of the body where there is one. */
  readonly components?: readonly string[];
  /** Parameters beside `keyid`, as they are written; default: `created` now. */
  readonly params?: readonly string[];
  readonly label?: string;
}

/** The headers of the request with those of its signature. */
export function sign(request: Signed, signing: Signing): Record<string, string> {
  const headers: Record<string, string> = { ...request.headers };
  if (request.body !== undefined && headers['content-digest'] === undefined) {
    headers['content-digest'] = contentDigest(request.body);
  }
  const standard = ['@method', '@path', '@query', ...(request.body === undefined ? [] : ['content-digest'])];
  const components = signing.components ?? standard;
  const url = new URL(request.url);
  const derived: Record<string, string> = {
    '@method': request.method,
    '@target-uri': request.url,
    '@authority': url.host,
    '@scheme': url.protocol.slice(0, -1),
    '@request-target': url.pathname + url.search,
    '@path': url.pathname,
    '@query': url.search === '' ? '?' : url.search,
  };
  const params = [...(signing.params ?? [`created=${Math.floor(Date.now() / 1000)}`]), `keyid="${signing.keyid}"`];
  const input = `(${components.map((name) => `"${name}"`).join(' ')});${params.join(';')}`;
  const lines = components.map((name) => `"${name}": ${derived[name] ?? headers[name]}`);
  const base = [...lines, `"@signature-params": ${input}`].join('\n');
  const label = signing.label ?? 'sig1';
  headers['signature-input'] = `${label}=${input}`;
  headers['signature'] = `${label}=:${createHmac('sha256', signing.secret).update(base).digest('base64')}:`;
  return headers;
}

/** RFC 9530. */
export function contentDigest(body: string, algorithm: 'sha-256' | 'sha-512' = 'sha-256'): string {
  const digest = createHash(algorithm.replace('-', '')).update(body).digest('base64');
  return `${algorithm}=:${digest}:`;
}
