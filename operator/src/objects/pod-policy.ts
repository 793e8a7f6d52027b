/**
 * Limits of the pods that GatewayProjects may request (docs/decisions.md#resulting-pod): without them, anyone who may
 * write a GatewayProject could create any pod.
 */
import type { JsonObject } from '@gw/gateway/artifact';

/**
 * Fields that must be allowed with `--allow-pod-fields`, by the name used there. A field that is neither here nor
 * freely settable counts as `other`.
 */
export const POD_FIELDS = {
  args: 'the command line of the gateway',
  automountServiceAccountToken: "a token of the pods' ServiceAccount",
  command: 'what runs in the gateway container',
  containers: 'containers beside the gateway',
  env: 'variables GW_*, NODE_*, LD_*, OPENSSL_*, PATH and GCONV_PATH, and changes of those that the operator sets',
  envFrom: 'variables from whole ConfigMaps and Secrets, beside spec.secrets.env',
  hostIPC: 'memory shared with the node',
  hostNetwork: 'the network of the node',
  hostPID: 'the processes of the node',
  hostPath: 'folders of the node',
  hostPort: 'ports of the node',
  hostUsers: 'the user namespace of the node',
  initContainers: 'containers before it, and native sidecars',
  lifecycle: 'commands at its start and end',
  nodeName: 'a node, past the scheduler',
  other: 'every other field',
  ports: 'ports of the gateway container',
  probes: "other probes than the operator's; their timings are free",
  runtimeClassName: 'another container runtime',
  securityContext: 'users, capabilities, privileges, seccomp, AppArmor and SELinux',
  serviceAccountName: 'another ServiceAccount',
  shareProcessNamespace: 'one process namespace for all containers',
  volumeMounts: 'mounts over files of the image, and changes of mounts that the operator makes',
  volumes: 'volumes of further types, such as persistentVolumeClaim, csi and nfs, and of tokens',
} as const;

export type PodField = keyof typeof POD_FIELDS;

export function isPodField(name: string): name is PodField {
  return Object.hasOwn(POD_FIELDS, name);
}

/** How far GatewayProjects may go, for the whole operator. */
export interface PodPolicy {
  /**
   * Images of pods beside those of the operator's own repository (`--allow-images`): REPOSITORY for all tags and digests
   * of one, REPOSITORY:TAG or REPOSITORY@DIGEST for one alone, PREFIX/* for all repositories below, * for
   * all there are.
   */
  readonly images: readonly string[];
  /** Fields beyond the usual (`--allow-pod-fields`). */
  readonly fields: ReadonlySet<PodField>;
  /** Whether `spec.pods.template` is taken at all (`--template-patches`). */
  readonly templatePatches: boolean;
  /** A patch of the template of all pods, which projects override (`--pod-defaults`). */
  readonly defaults?: JsonObject;
  /** Whether a Secret must name the projects that use it, in its annotation `gw.dev/projects` (`--require-secret-grants`). */
  readonly secretGrants: boolean;
}

/** The policy without options. */
export const DEFAULT_POD_POLICY: PodPolicy = {
  images: [],
  fields: new Set(),
  templatePatches: true,
  secretGrants: false,
};

/** Reports whether an image may run. `own`: the operator's image, of whose repository any tag or digest may run. */
export function allowsImage(image: string, own: string, { images }: Pick<PodPolicy, 'images'>): boolean {
  if (image === own) return true;
  // Runtimes refuse such names; one that accepts them could leave the allowed repositories.
  if (!/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/.test(image) || image.includes('..')) return false;
  return [repositoryOf(own), ...images].some((entry) => {
    if (entry === '*') return true;
    if (entry.endsWith('/*')) return image.startsWith(entry.slice(0, -1));
    return entry === image || entry === repositoryOf(image);
  });
}

/** Returns the image without tag and digest. */
function repositoryOf(image: string): string {
  const [named = ''] = image.split('@', 1);
  const colon = named.lastIndexOf(':');
  return colon > named.lastIndexOf('/') ? named.slice(0, colon) : named;
}
