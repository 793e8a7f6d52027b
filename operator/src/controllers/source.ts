/** Reads what ApiSpecs and PluginRefs point at: the keys of ConfigMaps and Secrets of their namespace. */
import { gunzipSync } from 'node:zlib';
import type { ReasonName } from '../api/reasons.ts';
import { configMaps, secrets } from '../api/resources.ts';
import type { Objects } from '../runtime/objects.ts';

/** Why there is nothing to read; goes into the Accepted condition as it is. */
export interface Refusal {
  readonly reason: ReasonName;
  readonly message: string;
}

export type Read<T> = ({ readonly ok: true } & T) | ({ readonly ok: false } & Refusal);

/** Bytes that one file may have once unpacked: a gzipped key could hold a thousand times its size. */
const MAX_FILE = 64 * 1024 * 1024;

export function refuse(reason: ReasonName, message: string): { readonly ok: false } & Refusal {
  return { ok: false, reason, message };
}

export type Entries = ReadonlyMap<string, Uint8Array>;

/** The keys of a ConfigMap, text and binary alike. */
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

/** The keys of a Secret. */
export async function readSecret(
  objects: Objects,
  namespace: string,
  name: string,
): Promise<Read<{ entries: Entries }>> {
  const found = await objects.get(secrets, { namespace, name });
  if (!found) return refuse('SourceNotFound', `Secret "${name}" is not in namespace "${namespace}"`);
  const entries = new Map<string, Uint8Array>();
  for (const [key, base64] of Object.entries(found.data ?? {})) entries.set(key, Buffer.from(base64, 'base64'));
  return { ok: true, entries };
}

/** Unpacks every key that ends in `.gz`, which then goes by the name without it. */
export function unpack(entries: Entries): Read<{ entries: Entries }> {
  const unpacked = new Map<string, Uint8Array>();
  for (const [key, bytes] of entries) {
    const name = key.endsWith('.gz') ? key.slice(0, -3) : key;
    if (unpacked.has(name)) return refuse('SourceInvalid', `the keys "${name}" and "${name}.gz" are both there`);
    try {
      unpacked.set(name, key === name ? bytes : gunzipSync(bytes, { maxOutputLength: MAX_FILE }));
    } catch (error) {
      return refuse(
        'SourceInvalid',
        `key "${key}" cannot be unpacked: ${error instanceof Error ? error.message : error}`,
      );
    }
  }
  return { ok: true, entries: unpacked };
}
