/**
 * The operator as the host of the data-plane channel (docs/decisions.md#later-artifacts-over-link): gateway pods that
 * take artifacts in place, and sidecars. The status of a project names the revision for them; their reports queue the
 * project again.
 */

import {
  type Admission,
  type ChannelCounts,
  type ChannelPorts,
  type DataPlane,
  DataPlaneChannel,
  type DesiredArtifact,
  type Refusal,
} from '@gw/control/channel';
import { BoundedMap } from '@gw/gateway/bounded-map';
import type { Hello, Status } from '@gw/gateway/link-protocol';
import type { GatewayProject } from '../api/resources.ts';
import { desiredOfPods, desiredOfSidecars } from '../controllers/gateway-project/rollout/desired-revision.ts';
import type { PodRefusal, ProjectLink } from '../controllers/gateway-project/rollout/observe.ts';
import type { Compilation } from '../controllers/gateway-project/sources/compilation.ts';
import { type KubeObject, keyOf, keyText, type ObjectKey } from '../kube/kube-object.ts';
import { type Admitted, type AdmitWith, admit } from './admission.ts';
import type { ArtifactFiles } from './artifact-files.ts';
import { artifactPath } from './downloads.ts';
import type { TokenReviewer } from './token-reviewer.ts';

export interface LinkHostOptions extends AdmitWith {
  readonly reviewer: Pick<TokenReviewer, 'review'>;
  readonly files: ArtifactFiles;
  /** Called with errors of requests and reads. */
  readonly onError: (error: unknown) => void;
}

const SIDECARS = '/sidecars';
const MOST_PROJECTS = 10_000;
/** Milliseconds in which reports of gateway pods, and of sidecars, are gathered into one reconcile. */
const PODS_MS = 20;
const SIDECARS_MS = 2000;

type Sidecars = NonNullable<GatewayProject['status']>['sidecars'];

export class LinkHost implements ChannelPorts, ProjectLink {
  readonly channel: DataPlaneChannel;
  readonly #options: LinkHostOptions;
  /** Projects as last decided, or as found when one of their data planes connected; by uid. */
  readonly #projects = new BoundedMap<GatewayProject>(MOST_PROJECTS);
  /** Refusals that hold, by uid and then by pod. */
  readonly #refusals = new BoundedMap<Map<string, PodRefusal>>(MOST_PROJECTS);
  /** Projects that have, or had, sidecars connected. */
  readonly #withSidecars = new Set<string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #call: (keys: readonly ObjectKey[]) => void = () => {};

  constructor(options: LinkHostOptions) {
    this.#options = options;
    this.channel = new DataPlaneChannel(this);
  }

  counts(): ChannelCounts {
    return this.channel.counts();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await this.channel.drain();
  }

  // --- ProjectLink

  onStart(call: (keys: readonly ObjectKey[]) => void): void {
    this.#call = call;
  }

  refusals(uid: string): readonly PodRefusal[] {
    return [...(this.#refusals.get(uid)?.values() ?? [])];
  }

  sidecars(uid: string): Sidecars {
    return this.#withSidecars.has(uid) ? sidecarCounts(this.channel.planes(uid + SIDECARS)) : undefined;
  }

  decided(project: GatewayProject, compilation: Compilation | undefined): void {
    const uid = project.metadata.uid ?? '';
    this.#projects.set(uid, project);
    const archive = compilation?.ok ? compilation.tarSha256 : undefined;
    const revision = project.status?.revisions?.find((kept) => kept.archive === archive);
    if (compilation?.ok && revision && this.channel.planes(uid).length > 0) {
      this.#options.files.hold(project, revision, compilation.archive).catch(this.#options.onError);
    }
    for (const id of [uid, uid + SIDECARS]) this.channel.refresh(id).catch(this.#options.onError);
  }

  gone(key: ObjectKey): void {
    const text = keyText(key);
    for (const { projectId } of this.channel.planes()) {
      const uid = uidOf(projectId);
      const project = this.#projects.get(uid);
      if (!project || keyText(keyOf(project)) !== text) continue;
      this.channel.removeProject(projectId);
      this.#projects.delete(uid);
    }
  }

  // --- ChannelPorts

  async authenticate(hello: Hello): Promise<Admission | Refusal> {
    const caller = await this.#options.reviewer.review(hello.api_key);
    if (!caller) {
      const detail = 'The token is not a service account token for this operator: see the volume gw-link of the pod.';
      return { refused: 'bad-key', detail };
    }
    const admitted = await admit(this.#options, caller);
    if (admitted?.project.metadata.uid !== hello.project_id.toLowerCase()) {
      const detail = `Pod ${caller.namespace}/${caller.pod} is neither a gateway nor an admitted sidecar of this GatewayProject.`;
      return { refused: 'unknown-project', detail };
    }
    return {
      dataPlaneId: caller.podUid,
      projectId: this.#projectId(admitted, hello.project_id.toLowerCase()),
      keyId: `${caller.namespace}/${caller.pod}`,
    };
  }

  #projectId({ project, role }: Admitted, uid: string): string {
    if (!this.#projects.get(uid)) this.#projects.set(uid, project);
    if (role === 'gateway') return uid;
    this.#withSidecars.add(uid);
    return uid + SIDECARS;
  }

  async wanted(projectId: string): Promise<DesiredArtifact | null> {
    const project = this.#projects.use(uidOf(projectId));
    const wanted = project && (isOfSidecars(projectId) ? desiredOfSidecars(project) : desiredOfPods(project));
    if (!wanted) return null;
    const { revision, attempt } = wanted;
    const { bytes, sha256, version } = await this.#options.files.get(project, revision);
    return {
      deployment_id: attempt,
      artifact_id: revision.archive,
      artifact_hash: revision.artifactHash,
      sha256: `sha256:${sha256}`,
      size: bytes.length,
      path: artifactPath(project, revision.archive),
      artifact_version: version,
    };
  }

  deploying(projectId: string): boolean {
    return this.#projects.get(uidOf(projectId))?.status?.rollout?.phase === 'Progressing';
  }

  connected(plane: DataPlane): void {
    this.#changed(plane);
  }

  seen(): void {}

  reported(plane: DataPlane, { outcome, reason, deployment_id, detail }: Status): void {
    const uid = uidOf(plane.projectId);
    const refusals = this.#refusals.get(uid) ?? new Map<string, PodRefusal>();
    refusals.delete(plane.keyId);
    // A download that failed so far is retried; the deadline ends that.
    if (outcome === 'refused' && reason !== 'download-failed' && !isOfSidecars(plane.projectId)) {
      const pod = plane.keyId.split('/').at(-1) ?? '';
      refusals.set(plane.keyId, { pod, attempt: deployment_id ?? '', detail: detail ?? reason ?? 'refused' });
    }
    this.#refusals.set(uid, refusals);
    this.#changed(plane);
  }

  drifted(plane: DataPlane): void {
    this.#changed(plane);
  }

  disconnected(plane: DataPlane): void {
    this.#refusals.get(uidOf(plane.projectId))?.delete(plane.keyId);
    this.#changed(plane);
  }

  failed(error: unknown): void {
    this.#options.onError(error);
  }

  /** Calls the project up, after more of the same may have come. */
  #changed({ projectId }: DataPlane): void {
    const project: KubeObject | undefined = this.#projects.get(uidOf(projectId));
    if (!project || this.#timers.has(projectId)) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(projectId);
        this.#call([keyOf(project)]);
      },
      isOfSidecars(projectId) ? SIDECARS_MS : PODS_MS,
    );
    this.#timers.set(projectId, timer.unref());
  }
}

function isOfSidecars(projectId: string): boolean {
  return projectId.endsWith(SIDECARS);
}

function uidOf(projectId: string): string {
  return isOfSidecars(projectId) ? projectId.slice(0, -SIDECARS.length) : projectId;
}

/** Maximum number of hashes in a status. */
const MOST_HASHES = 20;

/** Counts artifacts of connected sidecars, most frequent first. Pure. */
function sidecarCounts(
  planes: readonly Pick<DataPlane, 'artifactHash'>[],
): NonNullable<NonNullable<GatewayProject['status']>['sidecars']> {
  const counts = new Map<string | null, number>();
  for (const { artifactHash } of planes) counts.set(artifactHash, (counts.get(artifactHash) ?? 0) + 1);
  const byHash = [...counts]
    .map(([artifactHash, count]) => ({ ...(artifactHash === null ? {} : { artifactHash }), count }))
    .toSorted((a, b) => b.count - a.count || (a.artifactHash ?? '').localeCompare(b.artifactHash ?? ''))
    .slice(0, MOST_HASHES);
  return { connected: planes.length, byHash };
}
