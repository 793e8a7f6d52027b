/**
 * The parts of a request that must agree for it to get a stored response. Everything that a client can say and an
 * upstream can hear is either part of the key or taken out of the request, except headers of the baseline, which an
 * upstream names in `Vary` (RFC 9111, section 4.1).
 */
import { hash } from 'node:crypto';
import { type Exchange, type HeaderList, headerOf, joinedHeader } from '../../kit.ts';
import type { CacheRules } from './cache-rules.ts';

/** Increased with each change of stored values or of the parts of a key. */
const VERSION = 2;

/** `partition`: consumers that may see the stored response; empty: everyone. `query`: as `keyedQuery` returns it. */
export interface KeyScope {
  readonly rules: CacheRules;
  /** Id of the cache's config. */
  readonly id: string;
  readonly partition: string;
  readonly query: string | undefined;
}

export function cacheKey(exchange: Exchange, scope: KeyScope): string {
  const parts = urlParts(exchange, scope);
  parts.push(forwardedTo(exchange.headers));
  for (const name of scope.rules.vary) parts.push(name, variantValue(exchange.headers, name));
  for (const name of exchange.operation?.admitted ?? []) pushAdmitted(parts, exchange.headers, name, scope.rules);
  return `cache:${VERSION}:${digest(JSON.stringify(parts))}`;
}

/** Under it stands which responses of a URL are stored, whatever headers their requests had. */
export function urlKey(exchange: Exchange, scope: KeyScope): string {
  return `cache:${VERSION}:url:${digest(JSON.stringify(urlParts(exchange, scope)))}`;
}

/** Requests of one URL can have several keys, by their headers. */
export function keyHasHeaders({ headers, operation }: Exchange, { vary, ignoreHeaders }: CacheRules): boolean {
  if (vary.length > 0 || forwardedTo(headers) !== '') return true;
  return operation?.admitted.some((name) => name !== 'authorization' && !ignoreHeaders.has(name)) ?? false;
}

function urlParts(exchange: Exchange, { id, partition, query }: KeyScope): (string | undefined)[] {
  const { operation } = exchange;
  return [
    id,
    ...[
      operation?.api,
      operation?.path,
      exchange.scheme,
      headerOf(exchange.headers, 'host')?.toLowerCase(),
      exchange.path,
    ],
    ...[query ?? '', query === undefined ? '' : '?', partition],
  ];
}

/** A name beyond the baseline, or with `*` the beginning of several. */
function pushAdmitted(parts: (string | undefined)[], headers: HeaderList, name: string, rules: CacheRules): void {
  if (!name.endsWith('*')) {
    if (name !== 'authorization' && !rules.ignoreHeaders.has(name)) parts.push(name, joinedHeader(headers, name));
    return;
  }
  const start = name.slice(0, -1);
  for (let i = 0; i < headers.length; i += 2) {
    const each = headers[i] ?? '';
    if (each.startsWith(start) && !rules.ignoreHeaders.has(each)) parts.push(each, headers[i + 1]);
  }
}

/** Host and scheme that a proxy before this gateway says: upstreams make links of them. */
function forwardedTo(headers: HeaderList): string {
  const forwarded = joinedHeader(headers, 'forwarded');
  const named = forwarded === undefined ? [] : [...forwarded.matchAll(/\b(?:host|proto)=("[^"]*"|[^;,\s]*)/gi)];
  const [host, proto] = [joinedHeader(headers, 'x-forwarded-host'), joinedHeader(headers, 'x-forwarded-proto')];
  if (named.length === 0 && host === undefined && proto === undefined) return '';
  return [...named.map(([text]) => text), host ?? '', proto ?? ''].join('|').toLowerCase();
}

/** Returns the key that invalidates all responses stored for a path of an API, for any query, headers and partition. */
export function epochKey(api: string, path: string): string {
  return `cache:${VERSION}:epoch:${digest(JSON.stringify([api, path]))}`;
}

/** The key of one of several responses of a URL: `names` are those of its `Vary`. */
export function variantDigest(names: readonly string[], request: HeaderList): string {
  return digest(JSON.stringify(names.map((name) => [name, variantValue(request, name)])));
}

/**
 * Normalises lists: spaces around commas have no meaning in headers that are known to be lists, and content codings
 * have no order (RFC 9111, section 4.1). In any other header they may be part of a name.
 */
function variantValue(headers: HeaderList, name: string): string | undefined {
  const value = joinedHeader(headers, name);
  if (value === undefined || !name.startsWith('accept')) return value;
  const members = value.split(',').map((member) => member.trim());
  return name === 'accept-encoding' ? members.join(',').toLowerCase().split(',').sort().join(',') : members.join(',');
}

/**
 * Returns the query that is part of the key, and that the upstream gets: without parameters that the rules leave out,
 * sorted by name. Parameters of one name stay in their order, and each stays as it was sent.
 */
export function keyedQuery(query: string | undefined, rules: CacheRules): string | undefined {
  if (query === undefined) return undefined;
  const pairs = query.split('&').filter((pair) => pair !== '');
  if (pairs.length < 2 && rules.queryParameters === null && rules.ignoreQueryParameters.length === 0) return query;
  const named = pairs.map((pair) => ({ pair, name: parameterName(pair) }));
  const kept = named.filter(({ name }) => isKeyed(name, rules));
  kept.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return kept.length === 0 ? undefined : kept.map(({ pair }) => pair).join('&');
}

function isKeyed(name: string, { queryParameters, ignoreQueryParameters }: CacheRules): boolean {
  if (queryParameters !== null && !queryParameters.has(name)) return false;
  return !ignoreQueryParameters.some((ignored) =>
    ignored.endsWith('*') ? name.startsWith(ignored.slice(0, -1)) : name === ignored,
  );
}

function parameterName(pair: string): string {
  const equals = pair.indexOf('=');
  const name = (equals < 0 ? pair : pair.slice(0, equals)).replaceAll('+', ' ');
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

export function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
