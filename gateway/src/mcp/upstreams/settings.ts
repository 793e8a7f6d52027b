/** Settings of an upstream, ready for use: secrets resolved, names of headers in lower case. */
import type { JsonObject } from '../../artifact/format.ts';
import type { McpUpstream } from '../../artifact/tools.ts';
import { UpstreamError } from '../../egress/named/upstream-error.ts';
import type { HeaderList } from '../../exchange.ts';
import { isFieldValue } from '../../headers/field-syntax.ts';
import type { Secrets } from '../../secrets/secrets.ts';

export interface UpstreamSettings extends Omit<McpUpstream, 'headers'> {
  /** Headers of each request. */
  readonly headers: HeaderList;
}

/** Throws SecretError; and UpstreamError if the URL is plaintext, unless that is allowed. */
export function resolvedUpstream(upstream: McpUpstream, secrets: Secrets, allowPlaintext: boolean): UpstreamSettings {
  const { headers: given = {}, ...rest } = upstream;
  const { protocol, origin } = new URL(upstream.url);
  if (protocol !== 'https:' && !(protocol === 'http:' && allowPlaintext)) {
    const hint = 'use https://, or allow it with --allow-plaintext-upstream';
    throw new UpstreamError(`MCP upstream "${upstream.name}", ${origin}, is plaintext: ${hint}`);
  }
  const resolved = secrets.resolve(given as JsonObject);
  const headers = Object.entries(resolved).flatMap(([name, value]) => {
    if (!isFieldValue(String(value))) {
      throw new UpstreamError(
        `header "${name}" of MCP upstream "${upstream.name}" has characters that headers cannot have`,
      );
    }
    return [name.toLowerCase(), String(value)];
  });
  return { ...rest, headers };
}

/**
 * Reports whether a name without prefix, or a URI, is one of those that are offered; in a pattern, `*` stands for any
 * characters.
 */
export function allows(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matches(pattern.split('*'), name));
}

/** Reports whether a URI may be one of a template: whatever its expressions stand for. */
export function fitsTemplate(template: string, uri: string): boolean {
  return matches(template.split(/\{[^{}]*\}/), uri);
}

/** `parts`: texts between the asterisks. */
function matches(parts: readonly string[], name: string): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}
