/**
 * Web pages that may call (docs/mcp.md#origins): those whose origin the document lists, and pages of this machine if
 * the gateway is called on it. Comparing `Origin` with `Host` would admit a name that has been rebound to the gateway's
 * address.
 */
import { type Exchange, headerOf } from '../exchange.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|[a-z0-9-]+\.localhost)$/;

/** `origin`: null if no origin is allowed: the request comes from no page, or from one that may not call. */
export function originOf(
  exchange: Exchange,
  listed: ReadonlySet<string>,
): { readonly allowed: boolean; readonly origin: string | null } {
  const origin = headerOf(exchange.headers, 'origin');
  if (origin === undefined) return { allowed: true, origin: null };
  if (listed.has(origin)) return { allowed: true, origin };
  const local = isLoopback(origin) && isLoopback(`http://${headerOf(exchange.headers, 'host') ?? ''}`);
  return local ? { allowed: true, origin } : { allowed: false, origin: null };
}

function isLoopback(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}

/** Returns headers that let a page read an answer, and send the headers of MCP. */
export function corsHeaders(origin: string | null, preflight: boolean): string[] {
  if (origin === null) return [];
  const asks = 'content-type, accept, authorization, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name';
  const allows = preflight
    ? [
        'access-control-allow-methods',
        'POST, DELETE',
        'access-control-allow-headers',
        asks,
        'access-control-max-age',
        '600',
      ]
    : ['access-control-expose-headers', 'mcp-session-id, www-authenticate'];
  return ['access-control-allow-origin', origin, 'vary', 'origin', ...allows];
}
