/** The cluster that a command of `kubectl gw` talks to, with kubectl's own options for it. */
import { type Command, Option } from 'commander';
import { type GatewayProject, gatewayProjects } from '../api/resources.ts';
import { ApiServer } from '../runtime/api-server.ts';
import { ClusterObjects } from '../runtime/cluster-objects.ts';
import { readKubeconfig } from '../runtime/kubeconfig.ts';

export interface ClusterFlags {
  readonly namespace?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
}

export interface Cluster {
  readonly api: ApiServer;
  readonly objects: ClusterObjects;
  readonly namespace: string;
  close(): Promise<void>;
}

/** Adds options with the names of kubectl's. */
export function addClusterOptions(command: Command): Command {
  return command
    .addOption(new Option('-n, --namespace <name>', "namespace; default the context's"))
    .addOption(new Option('--context <name>', 'context of the kubeconfig; default the current one'))
    .addOption(new Option('--kubeconfig <file>', 'kubeconfig; default KUBECONFIG or ~/.kube/config'));
}

/** Throws if the kubeconfig has no such context, or no context at all. */
function connect({ namespace, context, kubeconfig }: ClusterFlags): Cluster {
  const config = readKubeconfig(kubeconfig);
  if (context) {
    if (!config.getContextObject(context)) {
      const known = config.getContexts().map(({ name }) => name);
      throw new Error(`the kubeconfig has no context "${context}"; it has ${known.join(', ') || 'none'}`);
    }
    config.setCurrentContext(context);
  }
  const api = new ApiServer(config);
  const objects = new ClusterObjects(api, { onRestart: () => {} });
  return { api, objects, namespace: namespace ?? api.namespace, close: () => api.close() };
}

/** Connects, works, and lets go again. */
export async function withCluster<T>(flags: ClusterFlags, work: (cluster: Cluster) => Promise<T>): Promise<T> {
  const cluster = connect(flags);
  try {
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}

/**
 * Returns the project of that name; without a name the only project of the namespace. Throws with a list of projects.
 */
export async function projectOf({ objects, namespace }: Cluster, name: string | undefined): Promise<GatewayProject> {
  if (name !== undefined) {
    const found = await objects.get(gatewayProjects, { namespace, name });
    if (found) return found;
  }
  const all = await objects.list(gatewayProjects, { namespace });
  const [only] = all;
  if (name === undefined && all.length === 1 && only) return only;
  const names = all.map(({ metadata }) => metadata.name).join(', ');
  if (all.length === 0) throw new Error(`namespace "${namespace}" has no GatewayProject: choose another with -n`);
  if (name === undefined) throw new Error(`namespace "${namespace}" has several GatewayProjects, name one: ${names}`);
  throw new Error(`namespace "${namespace}" has no GatewayProject "${name}"; it has ${names}`);
}
