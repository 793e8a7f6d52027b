/** What a user does on a cluster, and what is then there. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { ApiError, ApiServer } from '../../operator/src/runtime/api-server.ts';
import { execute } from '../e2e/kubectl.ts';

const CRDS = join(import.meta.dirname, '..', '..', 'crds');

export interface Found {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
    readonly deletionTimestamp?: string;
  };
  readonly [field: string]: unknown;
}

/** Paths of the collections that a project's objects, and a user's, are in. */
const PLURALS = {
  GatewayProject: 'apis/gw.dev/v1alpha1/gatewayprojects',
  ApiSpec: 'apis/gw.dev/v1alpha1/apispecs',
  PluginRef: 'apis/gw.dev/v1alpha1/pluginrefs',
  Deployment: 'apis/gw.dev/v1alpha1/deployments',
  ConfigMap: 'api/v1/configmaps',
  Secret: 'api/v1/secrets',
  Service: 'api/v1/services',
  ServiceAccount: 'api/v1/serviceaccounts',
  Workload: 'apis/apps/v1/deployments',
  NetworkPolicy: 'apis/networking.k8s.io/v1/networkpolicies',
  PodDisruptionBudget: 'apis/policy/v1/poddisruptionbudgets',
  HorizontalPodAutoscaler: 'apis/autoscaling/v2/horizontalpodautoscalers',
  Ingress: 'apis/networking.k8s.io/v1/ingresses',
  Role: 'apis/rbac.authorization.k8s.io/v1/roles',
  RoleBinding: 'apis/rbac.authorization.k8s.io/v1/rolebindings',
  Lease: 'apis/coordination.k8s.io/v1/leases',
  Event: 'apis/events.k8s.io/v1/events',
} as const;
export type Kind = keyof typeof PLURALS;

/** An object without what its path says. */
export interface Manifest {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly [field: string]: unknown;
}

export class User {
  readonly api: ApiServer;
  readonly namespace: string;

  private constructor(api: ApiServer, namespace: string) {
    this.api = api;
    this.namespace = namespace;
  }

  /** With a namespace of its own, on a cluster that has the kinds. */
  static async start(name: string, api = ApiServer.fromDefault(), labels = {}): Promise<User> {
    await installKinds();
    const namespace = `gw-${name}-${randomBytes(3).toString('hex')}`;
    await api.json({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace, labels } } });
    return new User(api, namespace);
  }

  /** Server-side apply, as `kubectl apply --server-side` does it; by another manager too, who takes what it wants. */
  async apply(kind: Kind, name: string, body: Manifest, manager = 'kubectl'): Promise<void> {
    const { apiVersion, ofKind } = typeOf(kind);
    await this.api.json({
      method: 'PATCH',
      path: this.path(kind, name),
      query: { fieldManager: manager, force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: { ...body, apiVersion, kind: ofKind, metadata: { ...body.metadata, name, namespace: this.namespace } },
    });
  }

  async patch(kind: Kind, name: string, body: object): Promise<void> {
    await this.api.json({
      method: 'PATCH',
      path: this.path(kind, name),
      query: { fieldManager: 'kubectl-edit' },
      contentType: 'application/merge-patch+json',
      body,
    });
  }

  /** Does nothing when it is gone. */
  async remove(kind: Kind, name: string): Promise<void> {
    try {
      await this.api.json({ method: 'DELETE', path: this.path(kind, name), body: { propagationPolicy: 'Background' } });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }

  async get(kind: Kind, name: string): Promise<Found | undefined> {
    try {
      const found = await this.api.json({ method: 'GET', path: this.path(kind, name) });
      return isFound(found) ? found : undefined;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async list(kind: Kind): Promise<readonly Found[]> {
    const page = await this.api.json({ method: 'GET', path: this.path(kind) });
    const items = isRecord(page) && Array.isArray(page['items']) ? page['items'] : [];
    return items.map((item: unknown) => (isRecord(item) ? { kind, ...item } : item)).filter(isFound);
  }

  /** `True Ready`: status and reason of a condition; undefined while there is none. */
  async condition(kind: Kind, name: string, type: string): Promise<string | undefined> {
    const status = (await this.get(kind, name))?.['status'];
    const conditions = isRecord(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
    const found = conditions.filter(isRecord).find((condition) => condition['type'] === type);
    return found && `${found['status']} ${found['reason']}`;
  }

  /** Deletes the namespace with all there is, without waiting. */
  async leave(): Promise<void> {
    await this.api.json({ method: 'DELETE', path: `/api/v1/namespaces/${this.namespace}` }).catch(() => undefined);
  }

  path(kind: Kind, name?: string): string {
    const parts = PLURALS[kind].split('/');
    const plural = parts.pop();
    return `/${parts.join('/')}/namespaces/${this.namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
  }
}

let installed: Promise<string> | undefined;

function installKinds(): Promise<string> {
  installed ??= execute('kubectl', ['apply', '--server-side', '--force-conflicts', '-f', CRDS]);
  return installed;
}

function typeOf(kind: Kind): { readonly apiVersion: string; readonly ofKind: string } {
  const parts = PLURALS[kind].split('/').slice(1, -1);
  return { apiVersion: parts.join('/'), ofKind: kind === 'Workload' ? 'Deployment' : kind };
}

function isFound(value: unknown): value is Found {
  return isRecord(value) && isRecord(value['metadata']) && typeof value['metadata']['name'] === 'string';
}
