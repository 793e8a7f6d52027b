/** Detects whether a cluster mounts images as volumes: once, by a dry run that writes nothing. */
import { messageOf } from '@gw/gateway/message-of';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import { isRecord, type KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { ApiError, type ApiServer } from '../runtime/api-server.ts';

/** Kubernetes 1.35 is the first that enables them by default. */
const FIRST_MINOR = 35;
const NAME = 'gw-image-volume-check';

export class ImageVolumes {
  readonly #api: ApiServer;
  readonly #onKnown: (available: boolean, why: string) => void;
  #known: boolean | undefined;
  /** By namespace, if only the version could be queried. */
  readonly #guessed = new Map<string, boolean>();
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(api: ApiServer, onKnown: (available: boolean, why: string) => void) {
    this.#api = api;
    this.#onKnown = onKnown;
  }

  /**
   * Returns an answer that stays for the life of the process: pods must not change with it. `namespace`: one in which
   * Deployments may be made. Rejects if the API server does not answer.
   */
  async available(namespace: string): Promise<boolean> {
    const known = this.#known ?? this.#guessed.get(namespace);
    if (known !== undefined) return known;
    const asking = this.#asking.get(namespace) ?? this.#ask(namespace).finally(() => this.#asking.delete(namespace));
    this.#asking.set(namespace, asking);
    return asking;
  }

  async #ask(namespace: string): Promise<boolean> {
    const tried = await this.#dryRun(namespace);
    if (typeof tried === 'boolean') {
      this.#known = tried;
      this.#onKnown(tried, 'by a dry run');
      return tried;
    }
    // A policy, a quota or a namespace in deletion tells nothing about volumes.
    const version = await this.#api.json({ method: 'GET', path: '/version' });
    const minor = isRecord(version) ? Number.parseInt(String(version['minor']), 10) : Number.NaN;
    const guessed = minor >= FIRST_MINOR;
    this.#guessed.set(namespace, guessed);
    this.#onKnown(guessed, `by the version, since a dry run in ${namespace} is refused (${messageOf(tried)})`);
    return guessed;
  }

  /** Returns the refusal if it does not tell whether the cluster knows image volumes. */
  async #dryRun(namespace: string): Promise<boolean | ApiError> {
    try {
      const answer = await this.#api.json({
        method: 'POST',
        path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
        query: { dryRun: 'All' },
        body: deployment(namespace),
      });
      return JSON.stringify(answer).includes('"pullPolicy":"Never"');
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) throw error;
      // A cluster that does not know image volumes drops the field, and then misses the type of the volume.
      return error.status === 422 && error.message.includes('spec.volumes[0]') ? false : error;
    }
  }
}

function deployment(namespace: string): KubeObject {
  const labels = { 'app.kubernetes.io/name': NAME };
  return manifest<IDeployment>({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: NAME, namespace, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'none',
              image: 'example.invalid/none:0',
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
              volumeMounts: [{ name: 'artifact', mountPath: '/artifact', readOnly: true }],
            },
          ],
          volumes: [{ name: 'artifact', image: { reference: 'example.invalid/none:0', pullPolicy: 'Never' } }],
        },
      },
    },
  });
}
