/** The Secret with the paths of the webhooks, in the operator's namespace: all replicas share it. */
import type { ApiServer } from '../runtime/api-server.ts';
import { ownSecret, type StoredSecret } from '../runtime/own-secret.ts';
import { renewPaths, type WebhookPaths } from './webhook-paths.ts';

export const WEBHOOK_SECRET = 'gw-operator-webhooks';
/** Annotation whose change requests another path. */
const ANNOTATION_ROTATE = 'gw.dev/rotate';

export interface PathSecretOptions {
  /** The operator's. */
  readonly namespace: string;
  /** The path that is configured now, asked for before there is a Secret. */
  readonly configured: () => Promise<string | undefined>;
  readonly now?: () => number;
}

/** Reads the paths, creates the first, and another if requested. */
export function pathSecret(
  api: ApiServer,
  { namespace, configured, now = Date.now }: PathSecretOptions,
): () => Promise<WebhookPaths> {
  return () =>
    ownSecret(api, { namespace, name: WEBHOOK_SECRET }, async (stored) => {
      const found = stored && pathsOf(stored);
      const before = found === undefined ? await configured() : undefined;
      const rotation = stored?.annotations[ANNOTATION_ROTATE] ?? '';
      const paths = renewPaths(found, rotation, before, now());
      if (paths === found) return { content: paths };
      const data = {
        path: paths.path,
        since: String(paths.since),
        rotated: paths.rotated,
        ...(paths.before === undefined ? {} : { before: paths.before }),
      };
      return { content: paths, write: { data, annotations: stored?.annotations } };
    });
}

/** The form of our paths: others are replaced. */
const OURS = /^\/webhooks\/[0-9a-f]{40}$/;

/** Returns undefined if the Secret has no paths. */
function pathsOf({ text }: StoredSecret): WebhookPaths | undefined {
  const [path, before, since] = [text('path'), text('before'), Number(text('since'))];
  const isWhole = OURS.test(path) && Number.isFinite(since);
  return isWhole ? { path, since, rotated: text('rotated'), ...(before ? { before } : {}) } : undefined;
}
