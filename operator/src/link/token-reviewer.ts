/** Whose a token of a service account is: asked of the API server (TokenReview), and remembered for a short time. */
import { createHash } from 'node:crypto';
import { BoundedMap } from '@gw/gateway/bounded-map';
import type { ITokenReview } from 'kubernetes-models/authentication.k8s.io/v1/TokenReview';
import { isRecord } from '../kube/kube-object.ts';
import type { Part } from '../kube/manifest.ts';
import type { ApiServer } from '../runtime/api-server.ts';

/** Audience of the link's tokens. */
export const AUDIENCE = 'gw-operator';

/** A pod that has shown a token of its service account. */
export interface Caller {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly pod: string;
  readonly podUid: string;
}

interface Answer {
  readonly until: number;
  readonly caller: Promise<Caller | undefined>;
}

const MOST = 20_000;
/** Milliseconds for which an approval is kept: a pod connects and then downloads, with one review for both. */
const GOOD_FOR_MS = 60_000;
/** Milliseconds for which a refusal is kept: repeated requests of a stranger do not load the API server. */
const BAD_FOR_MS = 10_000;
/** Maximum length of a token, in characters. */
const MAX_TOKEN = 4096;

export class TokenReviewer {
  readonly #api: ApiServer;
  /** Answers by the hash of the token, which itself is not stored. */
  readonly #answers = new BoundedMap<Answer>(MOST);

  constructor(api: ApiServer) {
    this.#api = api;
  }

  /**
   * Returns undefined if the token is not a pod's token for this audience. Rejects when the API server does not answer.
   */
  async review(token: string): Promise<Caller | undefined> {
    // A token has three parts of base64url: anything else is refused without a review.
    if (token.length > MAX_TOKEN || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#answers.get(key);
    if (known && known.until > performance.now()) return known.caller;
    const caller = this.#ask(token);
    this.#answers.set(key, { caller, until: performance.now() + GOOD_FOR_MS });
    try {
      const found = await caller;
      if (!found) this.#answers.set(key, { caller, until: performance.now() + BAD_FOR_MS });
      return found;
    } catch (error) {
      this.#answers.delete(key);
      throw error;
    }
  }

  async #ask(token: string): Promise<Caller | undefined> {
    const body: Part<ITokenReview> = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [AUDIENCE] },
    };
    const review = await this.#api.json({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      body,
    });
    return callerOf(isRecord(review) ? review['status'] : undefined);
  }
}

/** Returns the caller from a TokenReview's status. */
export function callerOf(status: unknown): Caller | undefined {
  if (!isRecord(status) || status['authenticated'] !== true) return undefined;
  const { audiences, user } = status;
  if (!Array.isArray(audiences) || !audiences.includes(AUDIENCE) || !isRecord(user)) return undefined;
  const [system, kind, namespace, serviceAccount, ...more] = String(user['username']).split(':');
  const pod = extraOf(user, 'pod-name');
  const podUid = extraOf(user, 'pod-uid');
  if (system !== 'system' || kind !== 'serviceaccount' || more.length > 0) return undefined;
  if (!namespace || !serviceAccount || !pod || !podUid) return undefined;
  return { namespace, serviceAccount, pod, podUid };
}

function extraOf({ extra }: { readonly [name: string]: unknown }, name: string): string | undefined {
  const values = isRecord(extra) ? extra[`authentication.kubernetes.io/${name}`] : undefined;
  const [value] = Array.isArray(values) ? values : [];
  return typeof value === 'string' ? value : undefined;
}
