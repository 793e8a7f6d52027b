/**
 * Maintains one GatewayProject's project at a control plane: sends the cluster's state, requests each deployment once,
 * and reads deployments that others make there. Reconciles neither wait for it nor fail with it.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ApiError, type Project } from '@gw/control/client';
import type { Project as Inputs } from '@gw/gateway/compiler';
import { backoff, pause } from '../runtime/backoff.ts';
import type { LatestDeployment } from './answers.ts';
import { type Access, type Connection, type Connections, failureText, isForbidden } from './connection.ts';
import { capped, driftOf, type Expected, expectedOf } from './drift.ts';
import { describedBy, ensureProject, type ProjectOwner, ProjectTaken } from './project.ts';
import { deploy, latestDeployment, type Publishable, published } from './publish.ts';
import { registerAt, sendSources } from './send-sources.ts';
import { sourcesOf } from './sources.ts';

/** The deployment that the cluster wants. */
export interface DeploymentRequest extends Publishable {
  /** Names the request: the revision and its requester. Each is sent once. */
  readonly by: string;
}

export interface DesiredProject extends ProjectOwner {
  readonly access: Access;
  /** The inputs of the newest artifact; absent while nothing compiles. */
  readonly compiled?: Publishable & { readonly inputs: Inputs };
  readonly request?: DeploymentRequest;
}

/** State of a project at the control plane; its status also keeps it for the next start. */
export interface Seen {
  readonly projectId?: string;
  /** artifact_hash of the last sent inputs. */
  readonly synced?: string;
  /** The request that was last asked for, and the deployment that was made for it. */
  readonly asked?: Asked;
  /** Null: no deployment. */
  readonly latest?: LatestDeployment | null;
  readonly drift: readonly string[];
  /** Why it is incomplete. */
  readonly problem?: Problem;
}

interface Asked {
  readonly by: string;
  readonly deploymentId: string;
  /** Somebody else had deployed the same already. */
  readonly found?: boolean;
}

interface Problem {
  /** `away`: it does not answer, and is tried again; `forbidden`: the operator may not connect to it. */
  readonly kind: 'away' | 'refused' | 'taken' | 'forbidden';
  readonly message: string;
}

/** Milliseconds between full checks. */
const LOOK_MS = 60_000;
/** Milliseconds between checks without an event stream. */
const LOOK_WITHOUT_STREAM_MS = 10_000;
const RETRY_BASE_MS = 1_000;
const RETRY_MAX_MS = 60_000;

export interface MirrorOptions {
  readonly connections: Connections;
  /** State from the status. */
  readonly before: Seen;
  readonly onChange: () => void;
}

export class Mirror {
  readonly #options: MirrorOptions;
  readonly #closed = new AbortController();
  #desired: DesiredProject;
  #seen: Seen;
  #connection: Connection | undefined;
  /** The expected state, by the artifact_hash that it compiles to; without the documents. */
  #expected: { readonly of: string; readonly sources: Expected } | undefined;
  #refused: readonly string[] = [];
  #told: Seen | undefined;
  #wake = new AbortController();
  #following: { readonly projectId: string; readonly stop: AbortController } | undefined;
  readonly #running: Promise<void>;

  constructor(desired: DesiredProject, options: MirrorOptions) {
    this.#desired = desired;
    this.#options = options;
    this.#seen = options.before;
    this.#running = this.#run();
  }

  get seen(): Seen {
    return this.#seen;
  }

  desire(desired: DesiredProject): void {
    const before = this.#desired;
    this.#desired = desired;
    const sameAccess = isDeepStrictEqual(before.access, desired.access);
    if (!sameAccess) this.#disconnect();
    const same =
      sameAccess &&
      before.name === desired.name &&
      before.compiled?.artifactHash === desired.compiled?.artifactHash &&
      before.compiled?.signedBy === desired.compiled?.signedBy &&
      before.request?.by === desired.request?.by;
    if (!same) this.#wake.abort();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#disconnect();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    let failures = 0;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const desired = this.#desired;
      try {
        await this.#pass(desired);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        this.#tell({ ...this.#seen, problem: problemOf(desired.access.url, error) });
      }
      const rest = this.#following ? LOOK_MS : LOOK_WITHOUT_STREAM_MS;
      const ms = failures > 0 ? backoff(failures - 1, RETRY_BASE_MS, RETRY_MAX_MS) : rest;
      await pause(ms, AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  /** Corrects all differences, from top to bottom; without differences it costs one check. */
  async #pass(desired: DesiredProject): Promise<void> {
    const { client } = this.#connect(desired.access);
    const found = await ensureProject(client, desired, this.#seen.projectId);
    if (found.id !== this.#seen.projectId) {
      // Another project, with unknown state.
      this.#seen = { projectId: found.id, drift: [] };
    }
    this.#follow(found.id);
    const project = await this.#send(desired, found);
    await this.#ask(desired, project);
    const latest = await latestDeployment(client, project.id);
    const expected = await this.#expectedOf(desired.compiled);
    const drift = expected ? await driftOf(client, project, expected) : [];
    const { problem: _, ...seen } = this.#seen;
    this.#tell({ ...seen, latest, drift: capped([...this.#refused, ...drift]) });
  }

  /** Sends the inputs of the newest artifact, and the artifact, once. */
  async #send(desired: DesiredProject, project: Project): Promise<Project> {
    const { compiled, owner } = desired;
    if (!compiled || this.#seen.synced === compiled.artifactHash) return project;
    const { client } = this.#connect(desired.access);
    const { name, description } = project;
    this.#refused = await sendSources({
      client,
      projectId: project.id,
      about: { name, description: describedBy(description, owner) },
      sources: await sourcesOf(compiled.inputs),
      plugins: compiled.inputs.plugins,
      register: registerAt(client),
    });
    await published(client, project.id, compiled);
    this.#seen = { ...this.#seen, synced: compiled.artifactHash };
    return client.call('projects.get', { params: { id: project.id } });
  }

  /** Requests the deployment that the cluster wants, once for each change of it. */
  async #ask({ request, access }: DesiredProject, project: Project): Promise<void> {
    if (!request || this.#seen.asked?.by === request.by) return;
    const { client } = this.#connect(access);
    const artifactId = await published(client, project.id, request);
    const latest = await latestDeployment(client, project.id);
    const there = latest !== null && project.deployed_artifact_id === artifactId;
    const deploymentId = there
      ? latest.deployment_id
      : await deploy(client, project.id, artifactId, onceFor(project.id, request, this.#seen.asked?.deploymentId));
    this.#seen = { ...this.#seen, asked: { by: request.by, deploymentId, ...(there ? { found: true } : {}) } };
  }

  async #expectedOf(compiled: DesiredProject['compiled']): Promise<Expected | undefined> {
    if (!compiled) return undefined;
    const { artifactHash, inputs } = compiled;
    if (this.#expected?.of !== artifactHash) {
      this.#expected = { of: artifactHash, sources: expectedOf(await sourcesOf(inputs)) };
    }
    return this.#expected.sources;
  }

  #tell(seen: Seen): void {
    this.#seen = seen;
    if (isDeepStrictEqual(this.#told, seen)) return;
    this.#told = seen;
    this.#options.onChange();
  }

  #connect(access: Access): Connection {
    this.#connection ??= this.#options.connections.open(access);
    return this.#connection;
  }

  #disconnect(): void {
    this.#following?.stop.abort();
    this.#following = undefined;
    this.#connection?.close();
    this.#connection = undefined;
  }

  /** Follows deployments as they happen; when the stream ends, reads missed ones. */
  #follow(projectId: string): void {
    if (this.#following?.projectId === projectId) return;
    this.#following?.stop.abort();
    const connection = this.#connection;
    if (!connection?.takeStream()) return;
    const following = { projectId, stop: new AbortController() };
    this.#following = following;
    void this.#listen(connection, projectId, following.stop.signal).finally(() => {
      connection.giveStream();
      if (this.#following === following) this.#following = undefined;
      this.#wake.abort();
    });
  }

  async #listen({ events }: Connection, projectId: string, stop: AbortSignal): Promise<void> {
    const began = performance.now();
    try {
      const params = { id: projectId };
      for await (const { event } of await events.events('projects.events', { params }, { signal: stop })) {
        if (event === 'deployment') this.#wake.abort();
      }
    } catch {
      // The next request reports the failure.
    }
    // A stream that ends at once must not cause a loop of checks.
    if (performance.now() - began < LOOK_WITHOUT_STREAM_MS) await pause(LOOK_WITHOUT_STREAM_MS, stop);
  }
}

/** Returns the same key after a crash, and another if the same deployment is requested again after a different one. */
function onceFor(projectId: string, { by }: DeploymentRequest, after: string | undefined): string {
  return `gw-operator-${createHash('sha256')
    .update(JSON.stringify([projectId, by, after]))
    .digest('hex')}`;
}

function problemOf(url: string, error: unknown): Problem {
  const message = failureText(url, error);
  if (error instanceof ProjectTaken) return { kind: 'taken', message };
  if (isForbidden(error)) return { kind: 'forbidden', message };
  const refused = error instanceof ApiError && error.status >= 400 && error.status < 500;
  return { kind: refused ? 'refused' : 'away', message };
}
