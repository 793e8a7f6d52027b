/** `kubectl gw wait`: waits until a project serves its newest revision, or it is clear that it will not. */
import { type GatewayProject, gatewayProjects } from '../api/resources.ts';
import { foreignPlugins, notTakenUp, sourceVersions } from '../controllers/gateway-project/sources/source-versions.ts';
import type { AddCommand } from '../program.ts';
import { conditionOf } from '../runtime/conditions.ts';
import { addClusterOptions, type Cluster, type ClusterFlags, projectOf, withCluster } from './cluster.ts';

interface Flags extends ClusterFlags {
  readonly timeout: string;
}

export const waitCommand: AddCommand = (parent, { stdout, endWith }) => {
  addClusterOptions(parent.command('wait'))
    .description('wait until the applied state is served, or has failed')
    .argument('<project>', 'GatewayProject')
    .option('--timeout <seconds>', 'how long to wait', '600')
    .addHelpText(
      'after',
      `
Examples:
  $ kubectl apply -f deploy/ && kubectl gw wait shop
  $ kubectl gw wait shop --timeout 1800

It compares the versions of all objects that the project reads (ApiSpecs, PluginRefs, Deployments, ConfigMaps, and
Secrets that you may read) with those that the status is about. Says how the rollout goes, a line for each change, and with the last line how it ended.

Exit codes: 0 all pods serve what was applied, 1 it failed, was rolled back, or is not served in time.`,
    )
    .action((name: string, flags: Flags) =>
      withCluster(flags, async (cluster) => {
        // Waits for the objects as applied now; a later change is a different one.
        const project = await projectOf(cluster, name);
        const foreign = await foreignPlugins(cluster.objects, project);
        const applied = await sourceVersions(cluster.objects, project, { foreign });
        const names = new Set(applied.map((each) => `${each.kind}/${each.name}`));
        const gone = (project.status?.sources ?? []).filter(
          ({ kind, namespace, name: each }) =>
            kind !== 'Secret' && namespace === cluster.namespace && !names.has(`${kind}/${each}`),
        );
        let said = '';
        const tell = (message: string) => {
          if (message !== said && message !== '') stdout(`${message}\n`);
          said = message;
        };
        const ended = await projectUntil(cluster, name, Number(flags.timeout) * 1000, (now) => {
          const late = notTakenUp(cluster.namespace, applied, gone, now.status?.sources);
          tell(late ? `${late.kind} ${late.name} has not been taken up yet` : (now.status?.rollout?.message ?? ''));
          return !late && outcomeOf(now) !== undefined;
        });
        const { ok, message } = outcomeOf(ended) ?? { ok: false, message: '' };
        stdout(`${name}: ${message}\n`);
        if (!ok) endWith(1);
      }),
    );
};

interface Outcome {
  readonly ok: boolean;
  readonly message: string;
}

/** Returns undefined while the outcome may still change without anybody's action. */
function outcomeOf(project: GatewayProject): Outcome | undefined {
  const { metadata, status } = project;
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return undefined;
  const [ready, stalled] = [conditionOf(project, 'Ready'), conditionOf(project, 'Stalled')];
  if (ready?.status === 'True') return { ok: true, message: ready.message };
  return stalled?.status === 'True' ? { ok: false, message: stalled.message } : undefined;
}

/** Returns the project once it matches. Rejects after the timeout with its current state. */
export async function projectUntil(
  cluster: Cluster,
  name: string,
  timeoutMs: number,
  fits: (project: GatewayProject) => boolean,
): Promise<GatewayProject> {
  const done = Promise.withResolvers<GatewayProject>();
  let last: GatewayProject | undefined;
  const late = setTimeout(() => {
    const stands = last?.status?.rollout?.message ?? 'its status says nothing yet: is the operator running?';
    done.reject(new Error(`not after ${timeoutMs / 1000} s: ${stands} (see kubectl gw status ${name})`));
  }, timeoutMs);
  const watch = cluster.objects.watch(gatewayProjects, { namespace: cluster.namespace }, ({ type, object }) => {
    if (object.metadata.name !== name) return;
    if (type === 'deleted') return done.reject(new Error(`GatewayProject "${name}" was deleted`));
    last = gatewayProjects.parse(object);
    if (fits(last)) done.resolve(last);
  });
  try {
    return await done.promise;
  } finally {
    clearTimeout(late);
    await watch.close();
  }
}
