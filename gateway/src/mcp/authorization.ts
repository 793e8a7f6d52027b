/**
 * Metadata for clients that need a token: protected-resource metadata (RFC 9728), and challenges that point there
 * (docs/mcp.md#authorization).
 */
import type { Authorization } from '../artifact/tools.ts';
import { type Answer, type Exchange, headerOf } from '../exchange.ts';
import { problem } from '../problems.ts';
import { corsHeaders, originOf } from './origins.ts';
import { MCP_PATH } from './paths.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
/** Seconds for which clients may keep the metadata. */
const FRESH_SECONDS = 60;
/** Form of a `Host` that may be repeated in a header of an answer (RFC 3986, section 3.2.2). */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(:\d{1,5})?$/i;

export class ProtectedResource {
  readonly #authorization: Authorization;
  readonly #name: string;
  readonly #paths: ReadonlySet<string>;

  constructor(authorization: Authorization, name: string) {
    this.#authorization = authorization;
    this.#name = name;
    const { resource } = authorization;
    // A proxy in front may have taken a prefix away, or not.
    const paths = [MCP_PATH, ...(resource === undefined ? [] : [new URL(resource).pathname.replace(/\/$/, '')])];
    this.#paths = new Set(paths.map((path) => WELL_KNOWN + path));
  }

  /** Reports whether the metadata is read there. */
  isAt(path: string): boolean {
    return this.#paths.has(path);
  }

  /** `origins`: of pages that may read it. */
  answer(exchange: Exchange, origins: ReadonlySet<string>): Answer {
    const { origin } = originOf(exchange, origins);
    if (exchange.method === 'OPTIONS' && origin !== null) {
      return { status: 204, headers: corsHeaders(origin, true), body: null };
    }
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
      const detail = `${exchange.path} is read with GET.`;
      return { problem: problem('method-not-allowed', detail, { headers: ['allow', 'GET, HEAD'] }) };
    }
    const resource = this.#resourceOf(exchange);
    if (resource === null) return { problem: problem('malformed-request', 'Host is not the name of a server.') };
    const { servers, scopes } = this.#authorization;
    const metadata = {
      resource,
      authorization_servers: servers,
      ...(scopes.length > 0 ? { scopes_supported: scopes } : {}),
      bearer_methods_supported: ['header'],
      resource_name: this.#name,
    };
    // The answer repeats the client's name for the gateway, so it must not be shared.
    const caching = ['cache-control', `private, max-age=${FRESH_SECONDS}`];
    const headers = ['content-type', 'application/json', ...caching, ...corsHeaders(origin, false)];
    return { status: 200, headers, body: JSON.stringify(metadata) };
  }

  /** Adds to a Bearer challenge everything for getting a token for the tool; others stay unchanged. */
  challenge(exchange: Exchange, challenge: string, scopes: readonly string[]): string {
    const [, scheme, rest = ''] = /^(bearer)(?:\s+(.*))?$/is.exec(challenge) ?? [];
    const resource = this.#resourceOf(exchange);
    if (scheme === undefined || resource === null) return challenge;
    const { origin, pathname } = new URL(resource);
    const own = [`resource_metadata="${origin}${WELL_KNOWN}${pathname.replace(/\/$/, '')}"`];
    if (scopes.length > 0 && !/(^|[\s,])scope=/i.test(rest)) own.push(`scope="${scopes.join(' ')}"`);
    return `${scheme} ${[...own, ...(rest === '' ? [] : [rest])].join(', ')}`;
  }

  /** Returns null if `Host` cannot stand in a URL. */
  #resourceOf(exchange: Exchange): string | null {
    const { resource } = this.#authorization;
    if (resource !== undefined) return resource;
    const host = headerOf(exchange.headers, 'host') ?? '';
    const url = `${exchange.scheme}://${host}${MCP_PATH}`;
    return HOST.test(host) && URL.canParse(url) ? url : null;
  }
}
