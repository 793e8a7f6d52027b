/** The volumes of a pod as folders, and its environment, as a kubelet makes them from ConfigMaps and Secrets. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Objects } from '../runtime/objects.ts';
import { type Entries, readConfigMap, readSecret } from '../sources/read-source.ts';
import type { Container, PodSpec } from './local-kinds.ts';

/** An object that the pod needs is missing; starting is retried. */
class PodNotStartable extends Error {}

async function entries(
  objects: Objects,
  namespace: string,
  kind: 'configMap' | 'secret',
  name: string,
): Promise<Entries> {
  const read =
    kind === 'configMap' ? await readConfigMap(objects, namespace, name) : await readSecret(objects, namespace, name);
  if (!read.ok) throw new PodNotStartable(read.message);
  return read.entries;
}

/** Writes every volume below `root`, readable by us alone; returns the folder of each by name. */
export async function writeVolumes(
  objects: Objects,
  namespace: string,
  spec: PodSpec,
  root: string,
): Promise<ReadonlyMap<string, string>> {
  const folders = new Map<string, string>();
  for (const volume of spec.volumes ?? []) {
    const folder = join(root, safeName(volume.name));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    folders.set(volume.name, folder);
    const sources: ['configMap' | 'secret', string][] = [];
    if (volume.configMap) sources.push(['configMap', volume.configMap.name]);
    if (volume.secret) sources.push(['secret', volume.secret.secretName]);
    for (const { configMap, secret } of volume.projected?.sources ?? []) {
      if (configMap) sources.push(['configMap', configMap.name]);
      if (secret) sources.push(['secret', secret.name]);
    }
    for (const [kind, name] of sources) {
      for (const [key, bytes] of await entries(objects, namespace, kind, name)) {
        await writeFile(join(folder, safeName(key)), bytes, { mode: 0o600 });
      }
    }
  }
  return folders;
}

/** Keys become file names. Throws for a name that leaves its folder, which Kubernetes refuses too. */
function safeName(name: string): string {
  if (!/^[-._a-zA-Z0-9]+$/.test(name) || name === '.' || name === '..')
    throw new PodNotStartable(`"${name}" cannot be a file name`);
  return name;
}

/** Returns the container's variables, from values, ConfigMaps and Secrets. */
export async function environment(
  objects: Objects,
  namespace: string,
  container: Container,
): Promise<ReadonlyMap<string, string>> {
  const variables = new Map<string, string>();
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
  for (const { secretRef, configMapRef } of container.envFrom ?? []) {
    const ref = secretRef ?? configMapRef;
    if (!ref) continue;
    for (const [key, bytes] of await entries(objects, namespace, secretRef ? 'secret' : 'configMap', ref.name))
      variables.set(key, text(bytes));
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const ref = valueFrom?.secretKeyRef ?? valueFrom?.configMapKeyRef;
    if (!ref) {
      variables.set(name, value ?? '');
      continue;
    }
    const bytes = (await entries(objects, namespace, valueFrom?.secretKeyRef ? 'secret' : 'configMap', ref.name)).get(
      ref.key,
    );
    if (!bytes) throw new PodNotStartable(`"${ref.name}" has no key "${ref.key}"`);
    variables.set(name, text(bytes));
  }
  return variables;
}
