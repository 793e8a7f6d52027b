/**
 * The paths of the webhooks (docs/decisions.md#webhook-paths). Whoever asks a webhook proves by its path that it is an
 * API server: a part of it is random, stands in the webhook configurations, and is told to nobody else. Pure but for
 * what is random.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export const WEBHOOKS = ['validate', 'pods'] as const;
export type Webhook = (typeof WEBHOOKS)[number];

/** What the operator keeps, as the entries of a Secret. */
export interface WebhookPaths {
  /** `/webhooks/RANDOM`, below which the webhooks are. */
  readonly path: string;
  /** Since when, milliseconds since the epoch. */
  readonly since: number;
  /** The path before, still answered for a day. */
  readonly before?: string;
  /** The rotation that was granted last: the value of ANNOTATION_ROTATE. */
  readonly rotated: string;
}

/** Where webhooks were before they had a path of their own. */
export const FIXED_PATH = '/webhooks';

const BEFORE_MS = 24 * 3_600_000;
/** In which every replica has read a new path: API servers hear of it only then. */
export const SPREAD_MS = 120_000;

/**
 * The same where nothing is due. `rotation`: asks for another path where it is not the one granted last. `configured`: the
 * path that API servers use, where there is one: they go on until they are told of the first path of its own.
 */
export function renewPaths(
  paths: WebhookPaths | undefined,
  rotation: string,
  configured: string | undefined,
  now: number,
): WebhookPaths {
  if (paths && paths.rotated === rotation) return paths;
  const before = paths?.path ?? configured;
  // Lower case: API servers want each segment to be a DNS name.
  const path = `${FIXED_PATH}/${randomBytes(20).toString('hex')}`;
  return { path, since: now, ...(before === undefined ? {} : { before }), rotated: rotation };
}

/** The path that API servers shall use. */
export function published({ path, since, before }: WebhookPaths, now: number): string {
  return before !== undefined && now - since < SPREAD_MS ? before : path;
}

/** The webhook at this path of a request; undefined where there is none, or no longer. */
export function webhookAt(pathname: string, { path, since, before }: WebhookPaths, now: number): Webhook | undefined {
  const slash = pathname.lastIndexOf('/');
  const webhook = WEBHOOKS.find((name) => name === pathname.slice(slash + 1));
  if (!webhook) return undefined;
  const base = pathname.slice(0, slash);
  const valid = before !== undefined && now - since < BEFORE_MS ? [path, before] : [path];
  return valid.some((each) => isSame(base, each)) ? webhook : undefined;
}

/** Takes as long whatever they have in common. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
