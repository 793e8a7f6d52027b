/** A Secret of the operator's namespace whose content the operator creates and all its replicas share. */
import type { ISecret } from 'kubernetes-models/v1/Secret';
import { isRecord } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { ApiError, type ApiServer } from './api-server.ts';

export interface StoredSecret {
  readonly annotations: Readonly<Record<string, string>>;
  /** Returns the decoded value of a key, empty if the Secret lacks it. */
  readonly text: (key: string) => string;
}

export interface NextSecret<Content> {
  readonly content: Content;
  /** Content to write; undefined if the stored one stays. */
  readonly write?: {
    readonly data: Readonly<Record<string, string>>;
    /** Default: no annotations; existing ones are removed. */
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
}

/** Attempts, since another replica may write between our read and write. */
const ATTEMPTS = 5;

/** Reads the Secret, passes it to `next` (undefined if it does not exist), and writes the result if it differs. */
export async function ownSecret<Content>(
  api: ApiServer,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  next: (stored: StoredSecret | undefined) => NextSecret<Content> | Promise<NextSecret<Content>>,
): Promise<Content> {
  const collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
  const path = `${collection}/${name}`;
  for (let attempt = 1; ; attempt++) {
    const found = await current(api, path);
    const { content, write } = await next(found);
    if (!write) return content;
    try {
      await api.json({
        method: found ? 'PUT' : 'POST',
        path: found ? path : collection,
        body: manifest<ISecret>({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: {
            name,
            labels: { 'app.kubernetes.io/managed-by': 'gw-operator' },
            resourceVersion: found?.version,
            annotations: write.annotations,
          },
          type: 'Opaque',
          data: encoded(write.data),
        }),
      });
      return content;
    } catch (error) {
      // Two replicas agree because only one of them can write after both have read.
      if (!(error instanceof ApiError && error.status === 409) || attempt === ATTEMPTS) throw error;
    }
  }
}

async function current(
  api: ApiServer,
  path: string,
): Promise<(StoredSecret & { readonly version: string }) | undefined> {
  try {
    return parse(await api.json({ method: 'GET', path }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

function parse(secret: unknown): StoredSecret & { readonly version: string } {
  if (!isRecord(secret) || !isRecord(secret['metadata'])) throw new Error('the API server sent no Secret');
  const { metadata } = secret;
  const data = isRecord(secret['data']) ? secret['data'] : {};
  return {
    version: String(metadata['resourceVersion'] ?? ''),
    annotations: texts(metadata['annotations']),
    text: (key) => Buffer.from(String(data[key] ?? ''), 'base64').toString('utf8'),
  };
}

function texts(map: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(isRecord(map) ? map : {}).map(([name, value]) => [name, String(value)]));
}

function encoded(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  );
}
