/** `kubectl gw status`: projects at a glance, or all of one. */

import { printable, table } from '@gw/gateway/command-line';
import { messageOf } from '@gw/gateway/message-of';
import type { Command } from 'commander';
import { deployments, type GatewayProject, gatewayProjects, type Pod } from '../api/resources.ts';
import type { AddCommand } from '../program.ts';
import { conditionOf } from '../runtime/conditions.ts';
import { addClusterOptions, type Cluster, type ClusterFlags, projectOf, withCluster } from './cluster.ts';
import { age, type Format, formatted, outputOption, shortHash } from './output.ts';
import { adminRequest, isReady, podsOf } from './pods.ts';

interface Flags extends ClusterFlags {
  readonly allNamespaces?: boolean;
  readonly output: Format;
}

export const statusCommand: AddCommand = (parent, { stdout, endWith }) => {
  const command: Command = addClusterOptions(parent.command('status'))
    .description('show what projects serve, and what prevents them from being ready')
    .argument('[project]', 'GatewayProject; default: all in the namespace')
    .option('-A, --all-namespaces', 'projects of all namespaces')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  $ kubectl gw status
  $ kubectl gw status shop -n production
  $ kubectl gw status -A -o json

Exit codes: 0 every project shown is Ready, 1 one is not, or the cluster could not be asked.`,
    );
  command.action((name: string | undefined, flags: Flags) =>
    withCluster(flags, async (cluster) => {
      if (name === undefined) {
        const namespace = flags.allNamespaces ? {} : { namespace: cluster.namespace };
        const projects = await cluster.objects.list(gatewayProjects, namespace);
        stdout(
          formatted(flags.output, projects.map(summary), () =>
            overview(projects, flags.allNamespaces ? undefined : cluster.namespace),
          ),
        );
        if (!projects.every(isReadyProject)) endWith(1);
        return;
      }
      const project = await projectOf(cluster, name);
      const details = await detailsOf(cluster, project);
      stdout(formatted(flags.output, { ...summary(project), ...details }, () => describe(project, details)));
      if (!isReadyProject(project)) endWith(1);
    }),
  );
};

function isReadyProject(project: GatewayProject): boolean {
  return conditionOf(project, 'Ready')?.status === 'True';
}

function summary({ metadata, status, spec }: GatewayProject) {
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    strategy: spec.rollout.strategy,
    ...status,
  };
}

function overview(projects: readonly GatewayProject[], namespace: string | undefined): string {
  if (projects.length === 0)
    return `no GatewayProject in ${namespace === undefined ? 'any namespace' : `namespace "${namespace}"`}\n`;
  const rows = projects.map((project) => {
    const { metadata, status } = project;
    const ready = conditionOf(project, 'Ready');
    const { pods, sidecars } = status ?? {};
    return [
      metadata.namespace ?? '',
      metadata.name,
      ready?.status ?? 'Unknown',
      ready?.reason ?? '-',
      String(status?.revision ?? '-'),
      shortHash(status?.artifactHash),
      pods ? `${pods.programmed ?? 0}/${pods.wanted ?? 0}` : '-',
      sidecars ? `${sidecars.connected ?? 0}/${sidecars.pods ?? 0}` : '-',
      age(metadata.creationTimestamp),
    ];
  });
  const head = ['NAMESPACE', 'PROJECT', 'READY', 'REASON', 'REVISION', 'HASH', 'PODS', 'SIDECARS', 'AGE'];
  return table([head, ...rows]);
}

interface PodLine {
  readonly name: string;
  readonly ready: boolean;
  /** The pod was deleted and drains, which is not a problem. */
  readonly ending?: true;
  /** `artifact_hash` that the pod reports; absent if the pod could not be queried. */
  readonly serves?: string;
  readonly problem?: string;
}

interface Details {
  readonly podsNow: readonly PodLine[];
  readonly deployments: readonly { readonly name: string; readonly outcome: string; readonly revision?: number }[];
}

async function detailsOf(cluster: Cluster, project: GatewayProject): Promise<Details> {
  const [found, asked] = await Promise.all([
    podsOf(cluster, project),
    cluster.objects.list(deployments, { namespace: cluster.namespace }),
  ]);
  return {
    podsNow: await Promise.all(found.map((pod) => podLine(cluster, pod))),
    deployments: asked
      .filter(({ spec }) => spec.project === project.metadata.name)
      .map(({ metadata, status }) => ({
        name: metadata.name,
        outcome: status?.outcome ?? 'Pending',
        ...(status?.revision === undefined ? {} : { revision: status.revision }),
      })),
  };
}

async function podLine({ api }: Cluster, pod: Pod): Promise<PodLine> {
  const line = { name: pod.metadata.name, ready: isReady(pod) };
  if (pod.metadata.deletionTimestamp) return { ...line, ending: true };
  if (!line.ready) {
    const waiting = pod.status?.containerStatuses?.find(({ state }) => state?.waiting)?.state?.waiting;
    return { ...line, problem: [waiting?.reason, waiting?.message].filter(Boolean).join(': ') || 'not ready' };
  }
  try {
    const body = await api.json({ method: 'GET', ...adminRequest(pod, '/ready') });
    const hash = typeof body === 'object' && body !== null && 'artifact_hash' in body ? body.artifact_hash : undefined;
    return { ...line, serves: String(hash) };
  } catch (error) {
    return { ...line, problem: messageOf(error) };
  }
}

function describe(project: GatewayProject, { podsNow, deployments: asked }: Details): string {
  const { metadata, status, spec } = project;
  const lines = [
    `${metadata.namespace}/${metadata.name}`,
    `  serves     revision ${status?.revision ?? '-'}, ${status?.artifactHash ?? 'nothing yet'}`,
    `  newest     revision ${status?.latestRevision ?? '-'}`,
    `  address    ${status?.address ?? '-'}`,
    `  strategy   ${spec.rollout.strategy}`,
  ];
  const { rollout, failed, sidecars } = status ?? {};
  if (rollout?.phase) {
    lines.push(`  rollout    ${rollout.phase} to revision ${rollout.revision ?? '-'}: ${rollout.message ?? ''}`);
  }
  if (failed) lines.push(`  failed     revision ${failed.revision}: ${failed.message}`);
  if (sidecars) {
    const missing = sidecars.missing ? `, ${sidecars.missing} pod(s) without` : '';
    lines.push(`  sidecars   ${sidecars.connected ?? 0} of ${sidecars.pods ?? 0} connected${missing}`);
  }
  const block = (title: string, rows: readonly (readonly string[])[]) =>
    rows.length === 0 ? '' : `\n${title}\n${indented(table(rows))}`;
  const conditions = (status?.conditions ?? []).map(({ type, status: is, reason, message }) => [
    type,
    is,
    reason,
    message,
  ]);
  const revisions = (status?.revisions ?? []).map(({ revision, artifactHash, createdAt, servedAt, failed: why }) => [
    String(revision),
    shortHash(artifactHash),
    `${age(createdAt)} ago`,
    revision === status?.revision ? 'served' : why ? 'failed' : servedAt ? 'served before' : '',
    why?.message ?? '',
  ]);
  const findings = (status?.diagnostics ?? []).map(({ code, severity, apiSpec, file, line, message }) => [
    code,
    severity,
    [apiSpec, file, line].filter((part) => part !== undefined).join(':'),
    message,
  ]);
  return [
    `${lines.map(printable).join('\n')}\n`,
    block('conditions', conditions),
    block(
      'pods',
      podsNow.map(({ name, ready, ending, serves, problem }) => [
        name,
        ready ? 'ready' : ending ? 'ending' : 'not ready',
        serves === undefined ? (problem ?? '') : serves === status?.artifactHash ? 'serves it' : `serves ${serves}`,
      ]),
    ),
    block('revisions', revisions),
    block(
      'deployments',
      asked.map(({ name, outcome, revision }) => [name, outcome, revision === undefined ? '' : `revision ${revision}`]),
    ),
    block('diagnostics', findings),
  ].join('');
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
