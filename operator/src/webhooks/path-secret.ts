/** The Secret with the paths of the webhooks, in the operator's namespace: all replicas share it. */
import { ApiError, type ApiServer } from '../runtime/api-server.ts';
import { isRecord } from '../runtime/kube-object.ts';
import { renewPaths, type WebhookPaths } from './webhook-paths.ts';

export const WEBHOOK_SECRET = 'gw-operator-webhooks';
/** Another value of it than before asks for another path. */
export const ANNOTATION_ROTATE = 'gw.dev/rotate';

export interface PathSecretOptions {
  /** The operator's. */
  readonly namespace: string;
  /** The path that is configured now, asked for before there is a Secret. */
  readonly configured: () => Promise<string | undefined>;
  readonly now?: () => number;
}

/** Another replica may write between our read and our write. */
const ATTEMPTS = 5;

/** Reads the paths, makes the first, and another where that is asked for. */
export function pathSecret(
  api: ApiServer,
  { namespace, configured, now = Date.now }: PathSecretOptions,
): () => Promise<WebhookPaths> {
  const collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
  const path = `${collection}/${WEBHOOK_SECRET}`;

  return async () => {
    for (let attempt = 1; ; attempt++) {
      const found = await current();
      const before = found?.paths === undefined ? await configured() : undefined;
      const paths = renewPaths(found?.paths, found?.wish ?? '', before, now());
      if (paths === found?.paths) return paths;
      try {
        await write(paths, found);
        return paths;
      } catch (error) {
        // Two replicas agree because only one of them gets to write on what both have read.
        if (!(error instanceof ApiError && error.status === 409) || attempt === ATTEMPTS) throw error;
      }
    }
  };

  async function current(): Promise<Found | undefined> {
    try {
      return parse(await api.json({ method: 'GET', path }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async function write(paths: WebhookPaths, found: Found | undefined): Promise<void> {
    const text = (value: string) => Buffer.from(value, 'utf8').toString('base64');
    await api.json({
      method: found === undefined ? 'POST' : 'PUT',
      path: found === undefined ? collection : path,
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: WEBHOOK_SECRET,
          labels: { 'app.kubernetes.io/managed-by': 'gw-operator' },
          ...(found ? { resourceVersion: found.version, annotations: found.annotations } : {}),
        },
        type: 'Opaque',
        data: {
          path: text(paths.path),
          since: text(String(paths.since)),
          rotated: text(paths.rotated),
          ...(paths.before === undefined ? {} : { before: text(paths.before) }),
        },
      },
    });
  }
}

interface Found {
  readonly version: string;
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly wish: string;
  /** Undefined where the Secret holds no paths. */
  readonly paths: WebhookPaths | undefined;
}

/** As we make them: others are replaced. */
const OURS = /^\/webhooks\/[0-9a-f]{40}$/;

function parse(secret: unknown): Found {
  if (!isRecord(secret) || !isRecord(secret['metadata'])) throw new Error('the API server sent no Secret');
  const { metadata } = secret;
  const annotations = isRecord(metadata['annotations']) ? metadata['annotations'] : {};
  const data = isRecord(secret['data']) ? secret['data'] : {};
  const text = (key: string) => Buffer.from(String(data[key] ?? ''), 'base64').toString('utf8');
  const [path, before, since] = [text('path'), text('before'), Number(text('since'))];
  const isWhole = OURS.test(path) && Number.isFinite(since);
  return {
    version: String(metadata['resourceVersion'] ?? ''),
    annotations,
    wish: String(annotations[ANNOTATION_ROTATE] ?? ''),
    paths: isWhole ? { path, since, rotated: text('rotated'), ...(before ? { before } : {}) } : undefined,
  };
}
