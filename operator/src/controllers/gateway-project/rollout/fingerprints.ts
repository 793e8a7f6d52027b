/**
 * Fingerprint of an operation in an artifact: its schemas, dispatch, chain, and the digests of their plugins. An edit
 * elsewhere keeps the fingerprint (docs/decisions.md#measured-faults).
 */
import { createHash } from 'node:crypto';
import { type Artifact, type Operation, readArtifact } from '@gw/gateway/artifact';
import { BoundedMap } from '@gw/gateway/bounded-map';
import type { Deployment, GatewayProject } from '../../../api/resources.ts';
import { isRecord } from '../../../kube/kube-object.ts';
import type { ArchiveReader } from '../control-plane/desired-deployment.ts';
import type { Compilation } from '../sources/compilation.ts';
import { schemaDigests } from './schema-digests.ts';
import { activeDeployment, requestedRevision } from './target.ts';

/** Fingerprints by operation, as metrics name it: `GET /books/{id}`. */
export type Fingerprints = ReadonlyMap<string, string>;

/** Operations whose fingerprints are kept, of all artifacts together. */
const MOST_OPERATIONS = 200_000;

/** Fingerprints of recently used artifacts, by `artifact_hash`. */
export class FingerprintCache {
  readonly #known = new BoundedMap<Fingerprints>(MOST_OPERATIONS);

  /** Returns undefined if the artifact cannot be read. */
  async of(artifactHash: string, read: () => Promise<Uint8Array>): Promise<Fingerprints | undefined> {
    const known = this.#known.use(artifactHash);
    if (known) return known;
    try {
      const artifact = await readArtifact(await read());
      if (artifact.manifest.artifact_hash !== artifactHash) return undefined;
      const made = fingerprintsOf(artifact);
      this.#known.set(artifactHash, made, made.size + 1);
      return made;
    } catch {
      return undefined;
    }
  }
}

export interface FingerprintsWith {
  readonly fingerprints?: FingerprintCache;
  readonly readArchive?: ArchiveReader;
}

/**
 * Returns fingerprints of the artifacts that may be rolled out, if a canary is measured or a fault is on record; by
 * `artifact_hash`.
 */
export async function observeFingerprints(
  { fingerprints, readArchive }: FingerprintsWith,
  project: GatewayProject,
  deployments: readonly Deployment[],
  compilation: Compilation | undefined,
): Promise<ReadonlyMap<string, Fingerprints> | undefined> {
  const { rollout, measuredFaults = [], revisions = [], latestRevision } = project.status ?? {};
  const isMeasured = rollout?.strategy === 'Canary' && rollout.phase === 'Progressing';
  if (!fingerprints || !readArchive || (!isMeasured && measuredFaults.length === 0)) return undefined;
  const active = activeDeployment(deployments);
  const asked = active && requestedRevision(active, revisions, latestRevision);
  const found = new Map<string, Fingerprints>();
  const add = async (artifactHash: string, read: () => Promise<Uint8Array>) => {
    const known = await fingerprints.of(artifactHash, read);
    if (known) found.set(artifactHash, known);
  };
  if (compilation?.ok) await add(compilation.artifactHash, async () => compilation.archive);
  for (const revision of revisions) {
    const mayBeGoal = [rollout?.revision, latestRevision, asked?.revision].includes(revision.revision);
    if (mayBeGoal && !found.has(revision.artifactHash))
      await add(revision.artifactHash, () => readArchive(project, revision));
  }
  return found;
}

export function fingerprintsOf({ routes, manifest }: Pick<Artifact, 'routes' | 'manifest'>): Fingerprints {
  const schemas = schemaDigests(routes.schemas);
  const plugins = new Map((manifest.plugins ?? []).map(({ name, sha256 }) => [name, sha256]));
  return new Map(routes.operations.map((operation) => [nameOf(operation), digestOf(operation, schemas, plugins)]));
}

function nameOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

function digestOf(
  operation: Operation,
  schemas: ReadonlyMap<string, string>,
  plugins: ReadonlyMap<string, string>,
): string {
  // Its position, and the title of its document, change with edits elsewhere.
  const { index: _, spec: _s, api: _a, ...own } = operation;
  const used = [own.dispatch, ...own.middlewares].map(({ name }) => plugins.get(name) ?? '');
  const text = JSON.stringify([own, used], (_key, value: unknown) => {
    const ref = isRecord(value) ? value['$ref'] : undefined;
    return typeof ref === 'string' && ref.startsWith('gw:') ? [ref, schemas.get(ref.slice(3)) ?? ''] : value;
  });
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
