/** A project on a running control plane: artifacts of it, and data planes that are the gateway's own link. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ControlPlaneLink, type LinkOptions } from '../../gateway/src/link/index.ts';
import type { ControlServer } from './server.ts';

export interface DeploymentView {
  readonly deployment_id: string;
  readonly artifact_id: string;
  readonly artifact_hash: string;
  readonly previous_artifact_id: string | null;
  readonly kind: string;
  readonly status: string;
  readonly reason: string | null;
  readonly target_data_planes: number;
  readonly applied: number;
  readonly refused: number;
  readonly waiting: number;
  readonly rollback_of: string | null;
  readonly warning: string | null;
  readonly created_by: string;
  readonly completed_at: string | null;
}

export interface TargetView {
  readonly name: string;
  readonly status: string;
  readonly reason: string | null;
  readonly served_hash: string | null;
}

export interface DataPlaneView {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly current_artifact_id: string | null;
  readonly current_artifact_hash: string | null;
  readonly drift_detected: boolean;
  readonly connected_at: string | null;
  readonly disconnected_at: string | null;
}

export interface ArtifactView {
  readonly id: string;
  readonly artifact_hash: string;
}

type Asking = Pick<ControlServer, 'ask' | 'get'>;

/** Polls until the value fits; then it is the result. Throws with the last one after `withinMs`. */
export async function until<T>(read: () => Promise<T> | T, fits: (value: T) => boolean, withinMs = 30_000): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (fits(value)) return value;
    if (performance.now() > end) throw new Error(`after ${withinMs} ms it was still ${JSON.stringify(value)}`);
    await sleep(50);
  }
}

export class Project {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  readonly #control: Asking;

  private constructor(control: Asking, id: string, { id: keyId, key }: { readonly id: string; readonly key: string }) {
    this.#control = control;
    this.id = id;
    this.key = key;
    this.keyId = keyId;
  }

  static async create(control: Asking, name = `p-${crypto.randomUUID().slice(0, 8)}`): Promise<Project> {
    const { id } = await control.get<{ id: string }>('/projects', { method: 'POST', json: { name } });
    const key = await control.get<{ id: string; key: string }>(`/projects/${id}/api-keys`, {
      method: 'POST',
      json: { name: 'fleet' },
    });
    return new Project(control, id, key);
  }

  /** The same, asked by way of another replica. */
  by(control: Asking): Project {
    return new Project(control, this.id, { id: this.keyId, key: this.key });
  }

  get<T>(path: string, json?: object): Promise<T> {
    return this.#control.get<T>(`/projects/${this.id}${path}`, json === undefined ? {} : { method: 'POST', json });
  }

  ask(path: string, init?: Parameters<Asking['ask']>[1]): Promise<Response> {
    return this.#control.ask(`/projects/${this.id}${path}`, init);
  }

  /** An API that answers with the body, compiled by the control plane. */
  async compile(body: string): Promise<ArtifactView> {
    const plugins = await this.get<readonly unknown[]>('/plugins');
    if (plugins.length === 0) await this.#addMock();
    const form = new FormData();
    form.append('file', new Blob([JSON.stringify(apiOf(body))]), 'api.json');
    const uploaded = await this.ask('/specs', { method: 'POST', body: form });
    if (!uploaded.ok) throw new Error(await uploaded.text());
    const { id } = await this.get<{ id: string }>('/compile', {});
    const done = await until(
      () => this.#control.get<{ status: string; artifact_id?: string; errors?: unknown }>(`/compilations/${id}`),
      ({ status }) => status === 'succeeded' || status === 'failed',
    );
    return this.#control.get<ArtifactView>(`/artifacts/${done.artifact_id}`);
  }

  async #addMock(): Promise<void> {
    const [mock] = await this.#control.get<{ version: string }[]>('/plugins/mock');
    await this.get('/plugins', {
      plugin_name: 'mock',
      plugin_version: mock?.version,
      enabled: true,
      config: {},
    });
  }

  deploy(artifactId: string, policy: object = {}): Promise<DeploymentView> {
    return this.get('/deploy', { artifact_id: artifactId, ...policy });
  }

  deployment(id: string): Promise<DeploymentView & { readonly targets: readonly TargetView[] }> {
    return this.get(`/deployments/${id}`);
  }

  /** The deployment when it has ended. */
  ended({ deployment_id }: Pick<DeploymentView, 'deployment_id'>, withinMs?: number) {
    return until(
      () => this.deployment(deployment_id),
      ({ status }) => status !== 'in_progress',
      withinMs,
    );
  }

  dataPlanes(): Promise<readonly DataPlaneView[]> {
    return this.get('/data-planes?limit=200');
  }
}

export function apiOf(body: string): object {
  const operation = { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': { name: 'mock', config: { body } } };
  return { openapi: '3.1.0', info: { title: 'Fleet', version: '1' }, paths: { '/a': { get: operation } } };
}

/** A data plane that loads nothing: it says what it serves. */
export class Plane {
  served: string | null = null;
  /** Hashes of what it was to load, in order. */
  readonly tried: string[] = [];
  /** What loading throws from now on; null: it does not. */
  fault: Error | null = null;
  /** Loading waits for it. */
  pause: Promise<void> = Promise.resolve();
  connections = 0;
  drifted = false;
  /** Why it was cut off, in order. */
  readonly ends: string[] = [];
  readonly name: string;
  readonly #link: ControlPlaneLink;

  /** `control`: http URL of a control plane. It begins at once. */
  constructor(control: string, project: Pick<Project, 'id' | 'key'>, name: string, options: Partial<LinkOptions> = {}) {
    this.name = name;
    this.#link = new ControlPlaneLink(
      {
        controlPlane: control.replace(/^http/, 'ws'),
        projectId: project.id,
        apiKey: project.key,
        name,
        labels: {},
        instanceId: name,
        trustedKeys: [],
        times: { firstMs: 50, mostMs: 400, slowMs: 400 },
        ...options,
      },
      {
        served: () => this.served,
        load: async ({ artifact }) => {
          this.tried.push(artifact.manifest.artifact_hash);
          await this.pause;
          if (this.fault) throw this.fault;
          this.served = artifact.manifest.artifact_hash;
        },
        connected: () => void this.connections++,
        disconnected: (why, refused) => void this.ends.push(refused ?? why),
        refused: () => {},
        drift: (drifted) => {
          this.drifted = drifted;
        },
      },
    );
    this.#link.start();
  }

  get connected(): boolean {
    return this.#link.connected;
  }

  stop(): Promise<void> {
    return this.#link.stop();
  }
}
