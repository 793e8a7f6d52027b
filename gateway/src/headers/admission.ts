/**
 * Request header admission (docs/reference/gateway.md#header-admission): an operation keeps the headers of the baseline
 * and those that it, its security schemes and its plugins declare; all others are dropped before anything sees them.
 */
import type { HeaderList } from '../exchange.ts';
import { internalized } from '../text/internalized.ts';
import { joinRepeated } from './repeated-lines.ts';

/** Admitted for every operation. `*` at the end makes a prefix. */
export const BASELINE: readonly string[] = [
  ...['host', 'content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'expect', 'range'],
  ...['accept', 'accept-encoding', 'accept-language', 'accept-charset', 'user-agent', 'cache-control', 'pragma'],
  ...['if-*', 'origin', 'access-control-request-method', 'access-control-request-headers'],
  ...['traceparent', 'tracestate', 'x-request-id', 'gw-hops', 'upgrade', 'connection', 'sec-websocket-*'],
  ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded'],
];

/**
 * Headers that pass although `Connection` names them: those that end at this gateway anyway, those that frame and route
 * the message, and the proxy chain, since a client must not remove a trusted proxy's headers.
 */
const NOT_NOMINATED = new Set([
  ...['connection', 'keep-alive', 'close', 'te', 'upgrade', 'transfer-encoding', 'content-length', 'host', 'expect'],
  ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded'],
]);

/** Never taken from a client, whatever a spec declares. */
const RESERVED_PREFIX = 'x-auth-';

/** Decisions remembered by the name's spelling; past it, names are decided anew each time. */
const CACHE_LIMIT = 512;

/** The admitted headers of a request. */
export interface Admitted {
  /** Names in lower case, each once: several lines of a list are one value (docs/decisions.md#one-reading). */
  readonly headers: HeaderList;
  /** Lines that were dropped. */
  readonly dropped: number;
  /** Name of a single-valued header that came in several lines; null without one. */
  readonly repeated: string | null;
}

/** A name that is admitted, in lower case. */
interface AdmittedName {
  readonly name: string;
  /** The request in which it was seen last. */
  seenIn: number;
}

export class Admission {
  readonly #names = new Set<string>();
  readonly #prefixes: string[] = [];
  /** Spelling as received, to the name, or null if it is dropped. */
  readonly #decided = new Map<string, AdmittedName | null>();
  #requests = 0;

  /** `declared`: lower-case names beyond the baseline. */
  constructor(declared: readonly string[]) {
    for (const name of [...BASELINE, ...declared]) {
      if (name.endsWith('*')) this.#prefixes.push(name.slice(0, -1));
      else this.#names.add(name);
    }
  }

  /** Returns the lower-case name, or null if it is dropped. */
  decide(name: string): string | null {
    return this.#decide(name)?.name ?? null;
  }

  #decide(spelling: string): AdmittedName | null {
    const known = this.#decided.get(spelling);
    if (known !== undefined) return known;
    const name = internalized(spelling.toLowerCase());
    const admitted =
      !name.startsWith(RESERVED_PREFIX) &&
      (this.#names.has(name) || this.#prefixes.some((prefix) => name.startsWith(prefix)));
    // Spellings of one name have it in common. One that is not remembered counts as seen: it may have come twice.
    const decision = admitted ? (this.#decided.get(name) ?? { name, seenIn: this.#requests }) : null;
    if (this.#decided.size < CACHE_LIMIT) {
      this.#decided.set(spelling, decision);
      if (decision !== null) this.#decided.set(name, decision);
    }
    return decision;
  }

  /**
   * Returns the admitted part of headers as they arrived. Those that `Connection` names end here (RFC 9110, section
   * 7.6.1), before a plugin adds any, so that clients cannot remove these.
   */
  admit(raw: readonly string[]): Admitted {
    const request = ++this.#requests;
    const admitted: string[] = [];
    let nominated: Set<string> | null = null;
    let mayRepeat = false;
    for (let i = 0; i < raw.length; i += 2) {
      const decision = this.#decide(raw[i] as string);
      if (decision === null) continue;
      const { name } = decision;
      const value = raw[i + 1] as string;
      admitted.push(name, value);
      if (decision.seenIn === request) mayRepeat = true;
      decision.seenIn = request;
      if (name === 'connection' && value !== 'keep-alive' && value !== 'close') {
        nominated ??= new Set();
        for (const option of value.split(',')) nominated.add(option.trim().toLowerCase());
      }
    }
    const headers = nominated === null ? admitted : without(admitted, nominated);
    const dropped = (raw.length - headers.length) / 2;
    return { headers, dropped, repeated: mayRepeat ? joinRepeated(headers) : null };
  }

  /** Names that were dropped, for the log. */
  dropped(raw: readonly string[]): string[] {
    return raw.filter((name, i) => i % 2 === 0 && this.#decide(name) === null).map((name) => name.toLowerCase());
  }
}

function without(headers: HeaderList, nominated: ReadonlySet<string>): HeaderList {
  return headers.filter((_, i) => {
    const name = headers[i - (i % 2)] as string;
    return !nominated.has(name) || NOT_NOMINATED.has(name);
  });
}
