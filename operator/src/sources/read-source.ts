/** Reads the sources of ApiSpecs and PluginRefs: keys of ConfigMaps and Secrets, and fetched content. */
import { type Read, refuse } from '../api/refusal.ts';
import { configMaps, secrets } from '../api/resources.ts';
import type { ObjectMeta } from '../kube/kube-object.ts';
import type { Objects } from '../runtime/objects.ts';
import type { SourceFetcher } from './fetcher.ts';
import { type FetchedSource, SourceError, type SourceOwner, type SourceRequest } from './source.ts';

/** Dependencies of reading sources. */
export interface ReadWith {
  readonly objects: Objects;
  /** Fetcher of sources outside the cluster. */
  readonly sources: SourceFetcher;
}

export type Entries = ReadonlyMap<string, Uint8Array>;

/** Reads the keys of a ConfigMap, text and binary alike. */
export async function readConfigMap(
  objects: Objects,
  namespace: string,
  name: string,
): Promise<Read<{ entries: Entries }>> {
  const found = await objects.get(configMaps, { namespace, name });
  if (!found) return refuse('SourceNotFound', `ConfigMap "${name}" is not in namespace "${namespace}"`);
  const entries = new Map<string, Uint8Array>();
  for (const [key, text] of Object.entries(found.data ?? {})) entries.set(key, Buffer.from(text, 'utf8'));
  for (const [key, base64] of Object.entries(found.binaryData ?? {})) entries.set(key, Buffer.from(base64, 'base64'));
  return { ok: true, entries };
}

/** Reads the keys of a Secret. */
export async function readSecret(
  objects: Pick<Objects, 'get'>,
  namespace: string,
  name: string,
): Promise<Read<{ entries: Entries; metadata: ObjectMeta }>> {
  const found = await objects.get(secrets, { namespace, name });
  if (!found) return refuse('SourceNotFound', `Secret "${name}" is not in namespace "${namespace}"`);
  const entries = new Map<string, Uint8Array>();
  for (const [key, base64] of Object.entries(found.data ?? {})) entries.set(key, Buffer.from(base64, 'base64'));
  return { ok: true, entries, metadata: found.metadata };
}

/** Returns the fetched source; a refusal while the fetch runs, and after it failed. */
export function readFetched(
  sources: SourceFetcher,
  owner: SourceOwner,
  request: SourceRequest,
): Read<{ readonly source: FetchedSource }> {
  const look = sources.look(owner, request);
  if (look.state === 'fetched') return { ok: true, source: look.source };
  if (look.state === 'failed') return refuse(look.problem.reason, look.problem.message);
  return refuse('Fetching', 'it is being fetched');
}

/** Returns a refusal in place of a SourceError of the work. */
export async function refusing<T>(work: () => Promise<Read<T>>): Promise<Read<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceError) return refuse(error.reason, error.message);
    throw error;
  }
}
