/** The log of one container, by way of the API server. */

import type { KubeObject } from '../kube/kube-object.ts';
import type { ApiServer } from '../runtime/api-server.ts';

export interface LogOptions {
  readonly container: string;
  readonly follow?: boolean;
  /** Lines from the end. */
  readonly tail?: number;
  /** Seconds back. */
  readonly since?: number;
  /** Reads the log of the container before its last restart. */
  readonly previous?: boolean;
  readonly signal?: AbortSignal;
}

export function logLines(api: ApiServer, { metadata }: KubeObject, options: LogOptions): AsyncGenerator<string> {
  const { container, follow, tail, since, previous, signal } = options;
  const { namespace = '', name } = metadata;
  return api.lines({
    method: 'GET',
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/log`,
    query: {
      container,
      follow: follow ? 'true' : undefined,
      tailLines: tail === undefined ? undefined : String(tail),
      sinceSeconds: since === undefined ? undefined : String(since),
      previous: previous ? 'true' : undefined,
    },
    accept: '*/*',
    silenceMs: 0,
    ...(signal ? { signal } : {}),
  });
}
