/** Verifiers of tokens, and the keys of issuers that they share: over the plugins and artifacts of a process. */

import { type HttpCaller, Outage, type OutageLog } from '../../../kit.ts';
import { Introspector } from './introspector.ts';
import { discoverKeySet, fetchKeySet, nameOf } from './issuer-client.ts';
import { JwtVerifier } from './jwt-verifier.ts';
import { FixedKeys, type KeySource } from './key-source.ts';
import { KeyTable } from './key-table.ts';
import { KeyError } from './public-key.ts';
import { RemoteKeys } from './remote-keys.ts';
import { TokenRulesError } from './rule-values.ts';
import { type KeyRules, type ReadJwtRules, readTokenRules } from './token-rules.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** Verifiers that the plugins of one artifact have opened. */
export interface TokenScope {
  /** A verifier by rules as `host_token_open` takes them. Throws TokenRulesError, or KeyError. */
  open(rules: string, config: unknown): TokenVerifier;
  /** Keys that no other scope uses are no longer fetched. */
  close(): void;
}

interface Shared {
  readonly keys: RemoteKeys;
  users: number;
}

export class Tokens {
  readonly #client: HttpCaller;
  readonly #log: OutageLog;
  /** By their source and the way of fetching. */
  readonly #shared = new Map<string, Shared>();

  constructor(client: HttpCaller, log: OutageLog) {
    this.#client = client;
    this.#log = log;
  }

  scope(): TokenScope {
    const used = new Set<string>();
    return {
      open: (text, config) => {
        const { kind, rules } = readTokenRules(text, config);
        if (kind === 'jwt') return new JwtVerifier({ ...rules, keys: this.#keys(rules, used) });
        return new Introspector(rules, this.#client, new Outage(`answers of ${nameOf(rules.url)}`, this.#log));
      },
      close: () => {
        for (const key of used) this.#release(key);
        used.clear();
      },
    };
  }

  #keys(rules: ReadJwtRules, used: Set<string>): KeySource | 'unchecked' | null {
    const { keys } = rules;
    switch (keys.kind) {
      case 'none':
        return null;
      case 'unchecked':
        return 'unchecked';
      case 'jwks':
        return new FixedKeys(named('jwks', () => KeyTable.ofJwks(keys.jwks)));
      case 'pem':
        return new FixedKeys(named('public_key', () => KeyTable.ofPem(keys.pem)));
      default:
        return this.#remote(keys, rules, used);
    }
  }

  #remote(keys: Extract<KeyRules, { kind: 'url' | 'issuer' }>, rules: ReadJwtRules, used: Set<string>): RemoteKeys {
    const { refreshMs, timeoutMs } = rules;
    const key = JSON.stringify([keys, refreshMs, timeoutMs]);
    let shared = this.#shared.get(key);
    if (!shared) {
      const url = keys.kind === 'url' ? keys.url : keys.issuer.url;
      shared = {
        keys: new RemoteKeys({
          fetch: keyFetcher(this.#client, keys, timeoutMs),
          refreshMs,
          outage: new Outage(`keys of ${nameOf(url)}`, this.#log),
        }),
        users: 0,
      };
      this.#shared.set(key, shared);
    }
    if (!used.has(key)) {
      used.add(key);
      shared.users++;
    }
    return shared.keys;
  }

  #release(key: string): void {
    const shared = this.#shared.get(key);
    if (!shared || --shared.users > 0) return;
    shared.keys.close();
    this.#shared.delete(key);
  }
}

/** Both steps of discovery have `timeoutMs` together. */
export function keyFetcher(client: HttpCaller, keys: Extract<KeyRules, { kind: 'url' | 'issuer' }>, timeoutMs: number) {
  if (keys.kind === 'url') return () => fetchKeySet(client, keys.url, timeoutMs);
  let known: string | null = null;
  return async (again: boolean) => {
    const until = performance.now() + timeoutMs;
    if (known === null || again) known = await discoverKeySet(client, keys.issuer, timeoutMs);
    return fetchKeySet(client, known, Math.max(1, until - performance.now()));
  };
}

function named<T>(property: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof KeyError) throw new TokenRulesError(`${property}: ${error.message}`, { cause: error });
    throw error;
  }
}
