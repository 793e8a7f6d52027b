/** Tokens that may be spent in a sliding window: by profile, and by whatever has a budget of its own. */

import type { Exchange, JsonObject } from '../../../../kit.ts';
import { type AiRefusal, refusal } from '../../proxy/conversation/refusal.ts';
import { parsedRequest } from '../../proxy/request/parsed-request.ts';
import type { SpentTokens } from '../../proxy/spent-tokens.ts';
import { TokenEstimate } from '../../proxy/token-estimate.ts';
import type { Decision } from '../decision.ts';
import { type FilesRule, filesRule } from '../files-rule.ts';
import { Profiles } from '../profiles.ts';
import { isRealtime } from '../unread-sessions.ts';
import { announce, type Limit, refusalHeaders } from './limit-headers.ts';
import { type Partition, partitionOf } from './partition.ts';
import type { Spending } from './spending.ts';
import { stateUnavailable } from './state-unavailable.ts';

const COUNTED = {
  total: ({ prompt, completion }: TokensOf) => prompt + completion,
  prompt: ({ prompt }: TokensOf) => prompt,
  completion: ({ completion }: TokensOf) => completion,
} as const;

type TokensOf = Pick<SpentTokens, 'prompt' | 'completion'>;

interface TokenQuota {
  readonly quota: number;
  readonly window: number;
  /** Tokens reserved for a completion whose request names no limit. */
  readonly reserve: number;
  readonly counted: (tokens: TokensOf) => number;
}

export interface LimitEvents {
  log(message: string, exchange: Exchange): void;
  /** A request, or the next response of a realtime session. */
  countRefusal(): void;
}

export class TokenLimit {
  readonly #profiles: Profiles<TokenQuota>;
  readonly #partition: Partition;
  readonly #policy: string;
  readonly #deniesUncounted: boolean;
  readonly #spending: Spending;
  readonly #events: LimitEvents;
  /** A batch takes its provider's count, once that is known: until then, a new one needs a quota with anything left. */
  readonly files: FilesRule;

  /** Throws if the config cannot be used. */
  constructor(config: JsonObject, spending: Spending, events: LimitEvents) {
    this.#events = events;
    this.#profiles = new Profiles(config, quotaOf, (message, exchange) => events.log(message, exchange));
    this.#partition = partitionOf(String(config['partition_key']));
    this.#policy = String(config['policy_name']);
    this.#deniesUncounted = config['on_state_failure'] === 'deny';
    this.#spending = spending;
    const files = filesRule(config, (exchange, { surface, operation }) => {
      if (surface === 'files') return null;
      return operation === 'create' ? this.#reserved(exchange, () => 1) : this.#charged(exchange);
    });
    this.files = async (exchange, request) => this.#counted(await files(exchange, request));
  }

  /** Returns null if enough tokens are left. Throws AiRefusal if the body is malformed. */
  async reserve(exchange: Exchange): Promise<AiRefusal | null> {
    if (isRealtime(exchange)) this.#spending.forEachResponse(exchange, () => this.#admit(exchange));
    return this.#admit(exchange);
  }

  async #admit(exchange: Exchange): Promise<AiRefusal | null> {
    const { prompt, limit } = await TokenEstimate.begin(exchange, parsedRequest(exchange));
    return this.#counted(
      await this.#reserved(exchange, ({ counted, reserve }) => counted({ prompt, completion: limit ?? reserve })),
    );
  }

  #counted<D extends Decision>(decision: D): D {
    if (decision !== null) this.#events.countRefusal();
    return decision;
  }

  async #reserved(exchange: Exchange, expected: (settings: TokenQuota) => number): Promise<AiRefusal | null> {
    const { name, settings } = this.#profiles.of(exchange);
    const { quota, window, counted } = settings;
    const result = await this.#spending.reserve(exchange, {
      policy: `tokens ${this.#policy}`,
      bucket: this.#bucket(name, exchange),
      // A request that may take more than the whole quota is admitted if the quota is untouched.
      amount: Math.min(expected(settings), quota),
      quota,
      windowSeconds: window,
      spent: counted,
    });
    if (result === null) return this.#deniesUncounted ? stateUnavailable() : null;
    const limit: Limit = { policy: this.#policy, quota, window };
    if (result.allowed) announce(exchange, limit, result);
    else return exhausted(refusalHeaders(exchange, limit, result.retryAfter));
    return null;
  }

  /** Charges the request even past the limit: it has been spent. */
  async #charged(exchange: Exchange): Promise<AiRefusal | null> {
    const { name, settings } = this.#profiles.of(exchange);
    const { window: windowSeconds, counted: spent } = settings;
    const result = await this.#spending.charge(exchange, {
      policy: `tokens ${this.#policy}`,
      bucket: this.#bucket(name, exchange),
      windowSeconds,
      spent,
    });
    return result === null && this.#deniesUncounted ? stateUnavailable() : null;
  }

  #bucket(profile: string, exchange: Exchange): string {
    return `tokens|${this.#policy}|${profile}|${this.#partition(exchange)}`;
  }
}

function exhausted(headers: readonly string[]): AiRefusal {
  const detail = 'The tokens of this policy are used up, or reserved; Retry-After says when to try again.';
  return refusal('rate-limited', 'token_limit_exceeded', detail, { headers });
}

function quotaOf(settings: JsonObject): TokenQuota {
  const { counts } = settings;
  return {
    quota: Number(settings['quota']),
    window: Number(settings['window']),
    reserve: Number(settings['reserve']),
    counted: COUNTED[counts === 'prompt' || counts === 'completion' ? counts : 'total'],
  };
}
