/**
 * `kubectl gw rollback`: holds a project to an older revision, by a Deployment of its own
 * (docs/decisions.md#newest-deployment-wins).
 */

import { deployments, type GatewayProject } from '../api/resources.ts';
import { servedBefore } from '../controllers/gateway-project/rollout/revision-history.ts';
import { deploymentId } from '../controllers/gateway-project/rollout/target.ts';
import { collectionPath } from '../kube/paths.ts';
import { Deployment } from '../models/index.ts';
import type { AddCommand } from '../program.ts';
import { conditionOf } from '../runtime/conditions.ts';
import { addClusterOptions, type Cluster, type ClusterFlags, projectOf, withCluster } from './cluster.ts';
import { age } from './output.ts';
import { revision as revisionNumber } from './revision-option.ts';
import { revisionOf } from './revisions.ts';
import { projectUntil } from './wait.ts';

interface Flags extends ClusterFlags {
  readonly toRevision?: number;
  readonly end?: boolean;
  readonly wait: boolean;
  readonly timeout: string;
}

export const rollbackCommand: AddCommand = (parent, { stdout }) => {
  addClusterOptions(parent.command('rollback'))
    .description('serve an older revision until the rollback is ended')
    .argument('<project>', 'GatewayProject')
    .option('--to-revision <number>', 'revision; default: the one that was served before', revisionNumber)
    .option('--end', 'end the rollback: serve the newest revision again')
    .option('--no-wait', 'return before the pods serve it')
    .option('--timeout <seconds>', 'how long to wait', '300')
    .addHelpText(
      'after',
      `
Examples:
  $ kubectl gw rollback shop
  $ kubectl gw rollback shop --to-revision 3
  $ kubectl gw rollback shop --end

Without a number it goes to the revision that the pods served before, never to one that failed to roll out; with a
number it goes to any that is kept, and warns of one that failed.

It creates the Deployment PROJECT-rollback (gwdeploy), which is newer than all others and so the one that counts. While
it is there, what compiles is kept as a revision and not rolled out. A GitOps tool that owns another Deployment of the
project is not in its way, nor it in theirs.

Exit codes: 0 the pods serve it, 1 they do not in time, or there is no such revision.`,
    )
    .action((name: string, flags: Flags) =>
      withCluster(flags, async (cluster) => {
        const project = await projectOf(cluster, name);
        if (flags.end) {
          if (!(await remove(cluster, project))) throw new Error(`"${name}" is not rolled back by kubectl gw rollback`);
          stdout(`the rollback of ${name} has ended: its newest revision is rolled out\n`);
          return;
        }
        const before = await cluster.objects.get(deployments, deploymentKey(project));
        const revision = revisionOf(project, flags.toRevision ?? previous(project, before !== undefined));
        const { failed, servedAt } = revision;
        if (failed) stdout(`warning: revision ${revision.revision} failed to roll out: ${failed.message}\n`);
        else if (servedAt === undefined)
          stdout(`warning: it is not known that revision ${revision.revision} was ever served\n`);
        await remove(cluster, project);
        const asking = await create(cluster, project, revision.revision);
        stdout(`rolling ${name} back to revision ${revision.revision}, made ${age(revision.createdAt)} ago\n`);
        if (!flags.wait) return;
        const { artifactHash } = revision;
        const ended = await projectUntil(
          cluster,
          name,
          Number(flags.timeout) * 1000,
          (now) =>
            failureOf(now, revision.revision, asking) !== undefined ||
            (now.status?.artifactHash === artifactHash && conditionOf(now, 'Programmed')?.status === 'True'),
        );
        const why = failureOf(ended, revision.revision, asking);
        if (why !== undefined) throw new Error(`revision ${revision.revision} failed to roll out: ${why}`);
        stdout(`${name} serves revision ${revision.revision}, ${revision.artifactHash}\n`);
      }),
    );
};

function deploymentKey({ metadata }: GatewayProject) {
  return { namespace: metadata.namespace ?? '', name: `${metadata.name}-rollback` };
}

function previous({ status, metadata }: GatewayProject, rolledBack: boolean): number {
  const found = servedBefore(status ?? {}, rolledBack);
  if (found) return found.revision;
  const others = (status?.revisions ?? []).filter(({ revision }) => revision !== status?.revision);
  const known = others.map(({ revision, failed }) => `${revision} (${failed ? 'failed' : 'not known to be served'})`);
  const choose = known.length > 0 ? `; choose one by --to-revision: ${known.join(', ')}` : '';
  throw new Error(
    `"${metadata.name}" keeps no revision that was served before revision ${status?.revision ?? 'none'}${choose}`,
  );
}

/** Returns why the rollback has ended without success; undefined while it may succeed. `asking`: see `deploymentId`. */
function failureOf({ status }: GatewayProject, revision: number, asking: string): string | undefined {
  const { failed, rollout } = status ?? {};
  if (failed?.deployment === asking && failed.revision === revision) return failed.message;
  const isOurs = rollout?.revision === revision && status?.revision === revision;
  return isOurs && rollout.phase === 'Failed' ? (rollout.message ?? 'its pods do not become ready') : undefined;
}

async function remove({ objects }: Cluster, project: GatewayProject): Promise<boolean> {
  const key = deploymentKey(project);
  const existing = await objects.get(deployments, key);
  if (existing) await objects.remove(deployments, key, existing.metadata.uid);
  return existing !== undefined;
}

/** Creates a new one each time, since the newest Deployment counts. Returns its identifier. */
async function create({ api }: Cluster, project: GatewayProject, revision: number): Promise<string> {
  const { namespace, name } = deploymentKey(project);
  const created = await api.json({
    method: 'POST',
    path: collectionPath(deployments, namespace),
    query: { fieldManager: 'kubectl-gw' },
    body: new Deployment({
      metadata: { namespace, name, labels: { 'app.kubernetes.io/managed-by': 'kubectl-gw' } },
      spec: { project: project.metadata.name, artifact: { revision } },
    }),
  });
  return deploymentId(deployments.parse(created));
}
