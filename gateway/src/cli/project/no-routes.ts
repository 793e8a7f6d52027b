/** Advice for a project without a route (docs/decisions.md#one-verdict). */
import type { CompileResult, LeftOutOperation } from '../../compiler/index.ts';

/**
 * Returns null if something is served: an operation, or tools of an upstream MCP server. `document`: one of the
 * project's.
 */
export function withoutRoutes(
  { manifest, leftOut }: CompileResult & { readonly ok: true },
  document = 'openapi.yaml',
): string | null {
  if (manifest.routes_count > 0 || manifest.mcp.enabled) return null;
  if (leftOut.length > 0)
    return `nothing to serve: ${leftOut.length} operations were left out, and there are no others`;
  return `nothing to serve: no operation has an x-gw-dispatch
  to answer with the examples of the document:  gw dev ${document} --mock
  to pass requests on to your server:           gw dev ${document} --upstream http://localhost:3000
  to keep it, add one line at the root of the document:
    x-gw-dispatch: { name: http-upstream, config: { url: https://api.example.com } }`;
}

/** Left-out operations by their reason, one line each. */
export function describeLeftOut(leftOut: readonly LeftOutOperation[], most: number): string {
  const reasons = Map.groupBy(leftOut, ({ code, reason, file, pointer }) => `${code} ${reason} (${file}#${pointer})`);
  const lines = [...reasons].map(([reason, operations]) => {
    const named = operations.slice(0, 3).map(({ method, path }) => `${method} ${path}`);
    const more = operations.length > named.length ? ` and ${operations.length - named.length} more` : '';
    return `  ${named.join(', ')}${more}: ${reason}\n`;
  });
  const rest = lines.length > most ? `  … and ${lines.length - most} more reasons (gw validate shows them)\n` : '';
  return lines.slice(0, most).join('') + rest;
}
