/** Reads everything that a GatewayProject's reconcile looks at. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { ProjectPlugin } from '@gw/gateway/compiler';
import {
  apiSpecs,
  configMaps,
  type Deployment,
  deployments,
  type GatewayProject,
  gatewayProjects,
  pluginRefs,
  pods,
  type Workload,
  workloads,
} from '../../api/resources.ts';
import { gatewayName, LABEL_PART, LABEL_PROJECT, podLabels } from '../../objects/names.ts';
import { OWNED, ownedResources } from '../../objects/owned.ts';
import { controlledBy, type KubeObject, type ObjectKey } from '../../runtime/kube-object.ts';
import type { Objects } from '../../runtime/objects.ts';
import { readDocument } from '../api-spec/document.ts';
import { type PluginCatalog, readPlugin } from '../plugin-ref/plugin-package.ts';
import { type Read, readSecret, refuse } from '../source.ts';
import { type Sources, takesPlugin, takesSpec } from './gather.ts';
import { type PodState, type ProvenanceProbe, podState } from './pod-state.ts';

export interface Observed {
  readonly project: GatewayProject;
  readonly sources: Sources;
  /** Public keys in hex that pods shall trust. */
  readonly trustedKeys: readonly string[];
  /** Public key of the signing key, in hex. */
  readonly signedBy?: string;
  /** The Deployments of this project. */
  readonly deployments: readonly Deployment[];
  /** Metadata of the ConfigMaps that hold artifacts. */
  readonly parts: readonly KubeObject[];
  readonly workload?: Workload;
  /** Metadata of the objects of OWNED's kinds that exist and are ours. */
  readonly owned: readonly KubeObject[];
  /** Objects of the names that we need which belong to somebody else, such as `Service "x-gateway"`. */
  readonly foreign: readonly string[];
  readonly pods: readonly PodState[];
}

export interface ObserveWith {
  readonly objects: Objects;
  readonly catalog: PluginCatalog;
  readonly probe: ProvenanceProbe;
}

/** Undefined when the project is gone, or going. */
export async function observe({ objects, catalog, probe }: ObserveWith, key: ObjectKey): Promise<Observed | undefined> {
  const project = await objects.get(gatewayProjects, key);
  if (!project || project.metadata.deletionTimestamp) return undefined;
  const { namespace } = key;
  const signing = await readSigningKey(objects, project);
  const sources = await readSources(objects, catalog, project, signing);
  const mine = { namespace, labels: { [LABEL_PROJECT]: project.metadata.name } };
  const { owned, foreign } = await readOwned(objects, project);
  const workload = await objects.get(workloads, { namespace, name: gatewayName(project) });
  const found = await objects.list(pods, { namespace, labels: podLabels(project) });
  const parts = (await objects.listMetadata(configMaps, mine)).filter(
    (part) => part.metadata.labels?.[LABEL_PART] !== undefined,
  );
  const signedBy = signing?.ok ? signing.publicKey : undefined;
  return {
    project,
    sources,
    trustedKeys: [
      ...new Set([
        ...(signedBy ? [signedBy] : []),
        ...(project.spec.signing?.trustedKeys ?? []).map((hex) => hex.toLowerCase()),
      ]),
    ],
    ...(signedBy ? { signedBy } : {}),
    deployments: (await objects.list(deployments, { namespace })).filter(
      (deployment) => deployment.spec.project === project.metadata.name,
    ),
    parts,
    ...(workload && controlledBy(workload, project) ? { workload } : {}),
    owned,
    foreign,
    pods: await Promise.all(found.map((pod) => podState(pod, probe))),
  };
}

/** By label, and by name where one that the project needs is not among those: it may belong to somebody else. */
async function readOwned(objects: Objects, project: GatewayProject): Promise<Pick<Observed, 'owned' | 'foreign'>> {
  const namespace = project.metadata.namespace ?? 'default';
  const mine = { namespace, labels: { [LABEL_PROJECT]: project.metadata.name } };
  const labelled = (await Promise.all(ownedResources.map((resource) => objects.listMetadata(resource, mine)))).flat();
  const needed = OWNED.filter(
    ({ resource, name, wanted }) =>
      (wanted?.(project) ?? true) &&
      !labelled.some(({ kind, metadata }) => kind === resource.kind && metadata.name === name(project)),
  );
  const named = await Promise.all(
    needed.map(({ resource, name }) => objects.get(resource, { namespace, name: name(project) })),
  );
  const found = [...labelled, ...named.filter((object) => object !== undefined)].filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  return {
    owned: found.filter((object) => controlledBy(object, project)),
    foreign: found
      .filter((object) => !controlledBy(object, project) && isNeeded(project, object))
      .map(({ kind, metadata }) => `${kind} "${metadata.name}"`),
  };
}

function isNeeded(project: GatewayProject, { kind, metadata }: KubeObject): boolean {
  return OWNED.some(
    ({ resource, name, wanted }) =>
      resource.kind === kind && name(project) === metadata.name && (wanted?.(project) ?? true),
  );
}

async function readSources(
  objects: Objects,
  catalog: PluginCatalog,
  project: GatewayProject,
  signing: Read<SigningKey> | undefined,
): Promise<Sources> {
  const namespace = project.metadata.namespace ?? 'default';
  const specs = (await objects.list(apiSpecs, { namespace })).filter(
    (spec) => !spec.metadata.deletionTimestamp && takesSpec(project, spec),
  );
  const listed = new Set((project.spec.plugins ?? []).map(({ name }) => name));
  const builtins = new Map<string, ProjectPlugin>();
  for (const name of listed) {
    const plugin = await catalog.builtin(name);
    if (plugin) builtins.set(name, plugin);
  }
  const refs = (await objects.list(pluginRefs, { namespace })).filter(
    (ref) => !ref.metadata.deletionTimestamp && takesPlugin(project, ref),
  );
  return {
    specs: await Promise.all(specs.map(async (apiSpec) => ({ apiSpec, read: await readDocument(objects, apiSpec) }))),
    plugins: await Promise.all(refs.map(async (ref) => ({ ref, read: await readPlugin(objects, catalog, ref) }))),
    builtins,
    ...(signing ? { signingKey: signing } : {}),
  };
}

interface SigningKey {
  readonly pem: string;
  /** In hex. */
  readonly publicKey: string;
}

async function readSigningKey(objects: Objects, project: GatewayProject): Promise<Read<SigningKey> | undefined> {
  const secret = project.spec.signing?.keySecret;
  if (!secret) return undefined;
  const read = await readSecret(objects, project.metadata.namespace ?? 'default', secret.name);
  if (!read.ok) return read;
  const bytes = read.entries.get(secret.key);
  if (!bytes) return refuse('SourceNotFound', `Secret "${secret.name}" has no key "${secret.key}"`);
  try {
    const pem = Buffer.from(bytes).toString('utf8');
    const jwk = createPublicKey(createPrivateKey(pem)).export({ format: 'jwk' });
    if (jwk.crv !== 'Ed25519' || jwk.x === undefined) throw new Error('it is no Ed25519 key');
    return { ok: true, pem, publicKey: Buffer.from(jwk.x, 'base64url').toString('hex') };
  } catch {
    // The cause is not repeated: messages about keys have been known to quote them.
    return refuse(
      'SourceInvalid',
      `key "${secret.key}" of Secret "${secret.name}" is no PKCS#8 Ed25519 private key in PEM`,
    );
  }
}
