/**
 * Rendezvous hashing by weight: each pair of key and address has a score, and the highest wins. If an address leaves, only
 * its own keys move; if one comes, it takes its share from all others.
 */
import type { HashSource } from '../../artifact/upstream-policy.ts';
import { type HeaderList, headerOf } from '../../exchange.ts';
import { fnv1a } from '../../text/fnv1a.ts';
import type { BalancedRequest, Balancer, Candidate } from './balancer.ts';

export class HashBalancer implements Balancer {
  readonly #source: HashSource;
  readonly #keyless: Balancer;

  /** `keyless`: chooses for requests without the header or the cookie. */
  constructor(source: HashSource, keyless: Balancer) {
    this.#source = source;
    this.#keyless = keyless;
  }

  choose<C extends Candidate>(candidates: readonly C[], request: BalancedRequest): C {
    if (candidates.length === 1) return candidates[0] as C;
    const key = keyOf(this.#source, request);
    if (key === undefined || key === '') return this.#keyless.choose(candidates, request);
    const hash = hashOf(key);
    let chosen = candidates[0] as C;
    let highest = Number.NEGATIVE_INFINITY;
    for (const each of candidates) {
      const score = scoreOf(hash, each);
      if (score > highest) {
        highest = score;
        chosen = each;
      }
    }
    return chosen;
  }
}

function keyOf(source: HashSource, { headers, clientIp }: BalancedRequest): string | undefined {
  if (source === 'client-address') return clientIp;
  return 'header' in source ? headerOf(headers, source.header) : cookieOf(headers, source.cookie);
}

/** Returns the first value of a cookie as the client sent it (RFC 6265, section 4.2.1). */
function cookieOf(headers: HeaderList, name: string): string | undefined {
  const cookies = headerOf(headers, 'cookie');
  if (cookies === undefined) return undefined;
  for (const pair of cookies.split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

const RANGE = 2 ** 32;

/** Weights share keys in proportion to them if the score is the weight by the logarithm of an even random number. */
function scoreOf(key: number, { hash, weight }: Candidate): number {
  return -weight / Math.log((mixed(key ^ hash) + 0.5) / RANGE);
}

/** Returns a hash of the text, of 32 bits, which is the same in every process. */
export function hashOf(text: string): number {
  return mixed(fnv1a(text));
}

/** The finalizer of MurmurHash3: each bit of the input changes half of the bits of the output. */
function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
