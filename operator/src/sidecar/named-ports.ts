/**
 * Whether Services of a cluster find the named ports of native sidecars: they do from Kubernetes 1.32 on (its pull
 * requests 127976 and 128850). On an older one, taking over a port would leave the Service without any.
 */

import { isRecord } from '../kube/kube-object.ts';
import type { ApiServer } from '../runtime/api-server.ts';

const FIRST_MINOR = 32;
/** Milliseconds for which a version is kept: a cluster may be upgraded while the operator runs. */
const KNOWN_MS = 10 * 60_000;

export interface ClusterVersion {
  /** The version as text, such as `1.34`. */
  readonly text: string;
  readonly findsSidecars: boolean;
}

/** Queries the version at the first call, and again after ten minutes. Rejects if the API server does not answer. */
export function clusterVersion(api: Pick<ApiServer, 'json'>): () => Promise<ClusterVersion> {
  let known: { readonly version: ClusterVersion; readonly until: number } | undefined;
  return async () => {
    if (known && Date.now() < known.until) return known.version;
    const version = read(await api.json({ method: 'GET', path: '/version' }));
    known = { version, until: Date.now() + KNOWN_MS };
    return version;
  };
}

function read(answer: unknown): ClusterVersion {
  const { major, minor } = isRecord(answer) ? answer : {};
  // Some providers write `34+`.
  const [first, second] = [major, minor].map((part) => Number.parseInt(String(part), 10));
  if (first === undefined || second === undefined || Number.isNaN(first + second))
    throw new Error('the API server does not say its version');
  return { text: `${first}.${second}`, findsSidecars: first > 1 || second >= FIRST_MINOR };
}
