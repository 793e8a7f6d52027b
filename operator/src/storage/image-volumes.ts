/** Whether a cluster mounts images as volumes: asked once, by a dry run that writes nothing. */
import { messageOf } from '@gw/gateway/message-of';
import { ApiError, type ApiServer } from '../runtime/api-server.ts';
import { isRecord } from '../runtime/kube-object.ts';

/** Kubernetes 1.35 is the first that has them without being told to. */
const FIRST_MINOR = 35;
const NAME = 'gw-image-volume-check';

export class ImageVolumes {
  readonly #api: ApiServer;
  readonly #onKnown: (available: boolean, why: string) => void;
  #known: boolean | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(api: ApiServer, onKnown: (available: boolean, why: string) => void) {
    this.#api = api;
    this.#onKnown = onKnown;
  }

  /**
   * The answer stays for the life of the process: pods must not change with it. `namespace`: one in which Deployments
   * may be made. Rejects where the API server does not answer.
   */
  async available(namespace: string): Promise<boolean> {
    if (this.#known !== undefined) return this.#known;
    this.#asking ??= this.#ask(namespace).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(namespace: string): Promise<boolean> {
    const [available, why] = await this.#dryRun(namespace);
    this.#known = available;
    this.#onKnown(available, why);
    return available;
  }

  async #dryRun(namespace: string): Promise<readonly [boolean, string]> {
    try {
      const answer = await this.#api.json({
        method: 'POST',
        path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
        query: { dryRun: 'All' },
        body: deployment(namespace),
      });
      return [JSON.stringify(answer).includes('"pullPolicy":"Never"'), 'by a dry run'];
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) throw error;
      // Where it does not know them it drops the field, and then misses the type of the volume.
      if (error.status === 422 && /volume/i.test(error.message)) return [false, 'by a dry run'];
      return this.#byVersion(error);
    }
  }

  /** A policy or quota that refuses the Deployment says nothing about its volume. */
  async #byVersion(refusal: ApiError): Promise<readonly [boolean, string]> {
    const version = await this.#api.json({ method: 'GET', path: '/version' });
    const minor = isRecord(version) ? Number.parseInt(String(version['minor']), 10) : Number.NaN;
    return [minor >= FIRST_MINOR, `by the version, since a dry run is refused (${messageOf(refusal)})`];
  }
}

function deployment(namespace: string): object {
  const labels = { 'app.kubernetes.io/name': NAME };
  return {
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
  };
}
