/** Which cluster is meant: a kubeconfig, or the service account of a pod. */
import { messageOf } from '@gw/gateway/message-of';
import { KubeConfig } from '@kubernetes/client-node';

/** Default of the library without a kubeconfig and a service account, which no user wants. */
const NOBODYS = { context: 'loaded-context', server: 'http://localhost:8080' };

/** `file`: of `--kubeconfig`; else KUBECONFIG, `~/.kube/config` or the pod. Throws an Error that says what to do. */
export function readKubeconfig(file?: string): KubeConfig {
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const name = isMissing && 'path' in error ? String(error.path) : (file ?? 'of KUBECONFIG or ~/.kube/config');
    const why = isMissing ? 'there is no such file' : messageOf(error);
    throw new Error(`cannot read the kubeconfig ${name}: ${why}; set KUBECONFIG or give --kubeconfig FILE`, {
      cause: error,
    });
  }
  const { server } = config.getCurrentCluster() ?? {};
  if (config.getCurrentContext() === NOBODYS.context && server === NOBODYS.server)
    throw new Error('there is no kubeconfig: set KUBECONFIG, give --kubeconfig FILE, or create ~/.kube/config');
  return config;
}
