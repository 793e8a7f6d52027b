/** `kubectl gw promote | pause | abort | retry`: a user's commands for the running rollout. */
import { randomUUID } from 'node:crypto';
import { printable } from '@gw/gateway/command-line';
import { type GatewayProject, gatewayProjects } from '../api/resources.ts';
import { ANNOTATION_ROLLOUT, commandText, type RolloutAction } from '../controllers/gateway-project/rollout/command.ts';
import { objectPath } from '../kube/paths.ts';
import type { AddCommand } from '../program.ts';
import { addClusterOptions, type Cluster, type ClusterFlags, projectOf, withCluster } from './cluster.ts';
import { projectUntil } from './wait.ts';

interface Flags extends ClusterFlags {
  readonly full?: boolean;
}

/** Milliseconds that the operator has to take it up. */
const TAKEN_UP_MS = 30_000;

interface Steering {
  readonly name: 'promote' | 'pause' | 'abort' | 'retry';
  readonly description: string;
  readonly help: string;
  /** Returns the revision to steer; throws if there is nothing to steer. */
  revision(project: GatewayProject): number;
}

const STEERING: readonly Steering[] = [
  {
    name: 'promote',
    description: 'advance a canary to its next step now, even if it is paused or waits for evidence',
    help: 'With --full it goes to all pods. What its metrics show is not waited for. It says what a canary measured as bad, and what\nwas measured needs no evidence any more.',
    revision: canaryOf,
  },
  {
    name: 'pause',
    description: 'hold a canary at its current step until it is promoted',
    help: 'It is measured on, and aborted where it does worse.',
    revision: canaryOf,
  },
  {
    name: 'abort',
    description: 'abort the current rollout, and serve the previous revision',
    help: 'The revision is not tried again until another compiles, the spec changes, or you retry it.',
    revision: underway,
  },
  {
    name: 'retry',
    description: 'retry a rollout that failed or was aborted',
    help: 'For when what it depended on has been repaired, and the operator cannot know. It says what was wrong; what a canary\nmeasured as bad needs no evidence any more.',
    revision: ({ metadata, status }) => {
      const { needsEvidence, revision } = status?.rollout ?? {};
      if (needsEvidence && revision !== undefined) return revision;
      if (status?.failed) return status.failed.revision;
      throw new Error(`no revision of "${metadata.name}" has failed: see kubectl gw status ${metadata.name}`);
    },
  },
];

function underway({ metadata, status }: GatewayProject): number {
  const { phase, revision } = status?.rollout ?? {};
  if (phase === 'Progressing' && revision !== undefined) return revision;
  throw new Error(`no rollout of "${metadata.name}" is under way: see kubectl gw status ${metadata.name}`);
}

function canaryOf(project: GatewayProject): number {
  const revision = underway(project);
  const { strategy, step, needsEvidence } = project.status?.rollout ?? {};
  if ((strategy === 'Canary' && step !== undefined) || needsEvidence) return revision;
  throw new Error(`the rollout of "${project.metadata.name}" is no canary (${strategy}): it has no steps`);
}

function commandOf({ name, description, help, revision }: Steering): AddCommand {
  return (parent, { stdout }) => {
    const command = addClusterOptions(parent.command(name))
      .description(description)
      .argument('<project>', 'GatewayProject');
    if (name === 'promote') command.option('--full', 'to all pods, skipping the remaining steps');
    command
      .addHelpText(
        'after',
        `
Examples:
  $ kubectl gw ${name} shop
  $ kubectl gw ${name} shop${name === 'promote' ? ' --full' : ''} && kubectl gw wait shop

${help}

It sets the annotation ${ANNOTATION_ROLLOUT}, which the operator takes up once, and returns when it has.

Exit codes: 0 it has been taken up, 1 it has not, or there is nothing to ask it of.`,
      )
      .action((project: string, flags: Flags) =>
        withCluster(flags, async (cluster) => {
          const found = await projectOf(cluster, project);
          const action: RolloutAction = name === 'promote' && flags.full ? 'promote-full' : name;
          for (const line of name === 'retry' || name === 'promote' ? wrongWith(found) : []) stdout(`${line}\n`);
          const id = randomUUID();
          await annotate(cluster, found, commandText({ action, revision: revision(found), id }));
          const { status } = await projectUntil(
            cluster,
            project,
            TAKEN_UP_MS,
            ({ status: now }) => now?.rollout?.asked === id,
          );
          stdout(`${project}: ${status?.rollout?.message ?? 'taken up'}\n`);
        }),
      );
  };
}

/** Returns the faults of the revision that a user clears with this command. */
function wrongWith({ status }: GatewayProject): readonly string[] {
  const { failed, rollout, measuredFaults = [] } = status ?? {};
  const needed = rollout?.needsEvidence ?? [];
  const measured = measuredFaults.filter(
    ({ operation, revision }) => needed.includes(operation) || revision === failed?.revision,
  );
  return [
    ...(failed ? [`revision ${failed.revision} failed: ${failed.message}`] : []),
    ...measured.map(({ operation, revision, message }) => `${operation} of revision ${revision}: ${message}`),
  ].map(printable);
}

async function annotate({ api }: Cluster, { metadata }: GatewayProject, text: string): Promise<void> {
  await api.json({
    method: 'PATCH',
    path: objectPath(gatewayProjects, { namespace: metadata.namespace ?? '', name: metadata.name }),
    query: { fieldManager: 'kubectl-gw' },
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations: { [ANNOTATION_ROLLOUT]: text } } },
  });
}

export const steeringCommands: readonly AddCommand[] = STEERING.map(commandOf);
