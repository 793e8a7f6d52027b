/**
 * The paths of the webhooks (docs/decisions.md#webhook-paths). A caller proves by the path that it is an API server:
 * part of the path is random, and only the webhook configurations contain it. Pure except for random values.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const WEBHOOKS = ['validate', 'pods'] as const;
export type Webhook = (typeof WEBHOOKS)[number];

/** The webhook paths, as the entries of a Secret. */
export interface WebhookPaths {
  /** `/webhooks/RANDOM`, prefix of the webhooks. */
  readonly path: string;
  /** Start of use, milliseconds since the epoch. */
  readonly since: number;
  /** The previous path, which is valid for another day. */
  readonly before?: string;
  /** The last granted rotation: the value of ANNOTATION_ROTATE. */
  readonly rotated: string;
}

/** Prefix of webhooks of operators that had no random path. */
export const FIXED_PATH = '/webhooks';

const BEFORE_MS = 24 * 3_600_000;
/** Milliseconds in which every replica reads a new path: API servers get the path only then. */
export const SPREAD_MS = 120_000;

/**
 * Returns the same paths if nothing is due. `rotation`: requests another path if it differs from the last granted one.
 * `configured`: the path that API servers use, if any: it stays valid until they get the first random path.
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

/** Returns the path that API servers use. */
export function published({ path, since, before }: WebhookPaths, now: number): string {
  return before !== undefined && now - since < SPREAD_MS ? before : path;
}

/** Returns the webhook at this path of a request; undefined if the path is unknown or has expired. */
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
