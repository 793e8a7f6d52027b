/** The operator's settings of a cache (`host_cache_open`): the config of the `cache` plugin. */
import { isObject, type Obj } from '../../kit.ts';

export interface CacheRules {
  /** Seconds for which a success without freshness information is fresh; 0: it is not stored. */
  readonly defaultTtl: number;
  /** The same for 4xx and 5xx. */
  readonly negativeTtl: number;
  /** Seconds for which a response counts as fresh at most, whatever it says. */
  readonly maxTtl: number;
  readonly statuses: ReadonlySet<number>;
  readonly methods: ReadonlySet<string>;
  /** Request headers that are always part of the key; lower case. */
  readonly vary: readonly string[];
  /** Request headers beyond the baseline that are not part of it; lower case. */
  readonly ignoreHeaders: ReadonlySet<string>;
  /** Query parameters that are part of the key, and sent on; null: all of them. */
  readonly queryParameters: ReadonlySet<string> | null;
  /** Names, or beginnings of names with `*`, of those that are neither. */
  readonly ignoreQueryParameters: readonly string[];
  /** Requests may ask for revalidation, or for stale responses. */
  readonly clientControl: boolean;
  readonly storeSetCookie: boolean;
  readonly maxBodyBytes: number;
  /** Stored responses of one URL that differ by request headers. */
  readonly maxVariants: number;
  /** Seconds for which a stale response is kept to be validated. */
  readonly keepStale: number;
  /** RFC 5861, if the response does not say; seconds. */
  readonly staleWhileRevalidate: number;
  readonly staleIfError: number;
  /** Seconds for which a request waits for another that fetches the same. */
  readonly lockTimeout: number;
  /** Answers carry `Cache-Status` (RFC 9211). */
  readonly statusHeader: boolean;
  /** Unsafe methods invalidate the stored responses of their path. */
  readonly invalidate: boolean;
}

/** The rules cannot be used; the message says why. */
class CacheRulesError extends Error {}

/** Reads rules with the defaults of `config-schema.json` filled in. Throws CacheRulesError. */
export function readCacheRules(text: string): CacheRules {
  let rules: unknown;
  try {
    rules = JSON.parse(text);
  } catch {
    rules = undefined;
  }
  if (!isObject(rules)) throw new CacheRulesError('the rules of a cache must be a JSON object');
  const read = new Reader(rules);
  return {
    defaultTtl: read.number('default_ttl', 0),
    negativeTtl: read.number('negative_ttl', 0),
    maxTtl: read.number('max_ttl', 86_400),
    statuses: new Set(read.list('statuses', [200, 203, 204, 300, 301, 308, 404, 410], isStatus)),
    methods: new Set(read.list('methods', ['GET', 'HEAD'], isText)),
    vary: lower(read.list('vary', [], isText)),
    ignoreHeaders: new Set(lower(read.list('ignore_headers', [], isText))),
    queryParameters: read.has('query_parameters') ? new Set(read.list('query_parameters', [], isText)) : null,
    ignoreQueryParameters: read.list('ignore_query_parameters', [], isText),
    clientControl: read.flag('client_control', false),
    storeSetCookie: read.flag('store_set_cookie', false),
    maxBodyBytes: read.number('max_body_bytes', 1 << 20),
    maxVariants: read.number('max_variants', 32),
    keepStale: read.number('keep_stale', 300),
    staleWhileRevalidate: read.number('stale_while_revalidate', 0),
    staleIfError: read.number('stale_if_error', 0),
    lockTimeout: read.number('lock_timeout', 5),
    statusHeader: read.flag('status_header', true),
    invalidate: read.flag('invalidate', true),
  };
}

/**
 * Reports whether the status may be stored: partial content needs its range beside it, and 304 is never a response of
 * its own.
 */
function isStatus(value: unknown): value is number {
  return (
    typeof value === 'number' && Number.isInteger(value) && value >= 200 && value <= 599 && ![206, 304].includes(value)
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function lower(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase());
}

class Reader {
  readonly #rules: Obj;

  constructor(rules: Obj) {
    this.#rules = rules;
  }

  has(name: string): boolean {
    return this.#rules[name] !== undefined;
  }

  number(name: string, otherwise: number): number {
    const value = this.#rules[name] ?? otherwise;
    if (typeof value === 'number' && value >= 0 && value <= 2 ** 31) return value;
    throw new CacheRulesError(`${name} must be a number that is not negative`);
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.#rules[name] ?? otherwise;
    if (typeof value === 'boolean') return value;
    throw new CacheRulesError(`${name} must be true or false`);
  }

  list<T>(name: string, otherwise: readonly T[], fits: (value: unknown) => value is T): readonly T[] {
    const value = this.#rules[name] ?? otherwise;
    if (Array.isArray(value) && value.every(fits)) return value;
    throw new CacheRulesError(`${name} contains a value that is not allowed`);
  }
}
