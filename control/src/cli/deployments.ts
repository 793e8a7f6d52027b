/** `gw-control deploy`, `gw-control rollback` and `gw-control deployments`. */
import { share, wholeNumber } from '@gw/gateway/command-line';
import { type Command, Option } from 'commander';
import type { Artifact } from '../resources/artifacts/schemas.ts';
import type { Deployment, DeploymentDetail } from '../resources/deployments/schemas.ts';
import { ApiError } from './api.ts';
import { OutcomeFailure } from './failure.ts';
import type { AddCommand } from './program.ts';
import { group, projectOption, remote, type ServerFlags, Session, short, time } from './session.ts';

interface DeployFlags extends ServerFlags {
  readonly project?: string;
  readonly timeout?: number;
  readonly rollbackThreshold?: number | null;
  readonly wait?: boolean;
}

const EXIT_CODES =
  'Exit codes: 0 deployed (without --wait: begun), 1 the request failed, 2 usage, 3 it did not succeed.';

export const deployCommand: AddCommand = (parent, program) => {
  const command = remote(parent, 'deploy', 'Deploy an artifact to the data planes of a project.', [
    'artifacts.listOfProject',
    'deployments.deploy',
    'deployments.get',
  ]).argument('[artifact]', 'id or hash, or the beginning of a hash; default the latest of the project');
  withPolicy(command)
    .addHelpText(
      'after',
      `\n${EXIT_CODES}\n\nExamples:\n  $ gw-control deploy --project shop --wait\n  $ gw-control deploy sha256:3f2a --timeout 120 --rollback-threshold 0.1 --wait`,
    )
    .action(async (artifact: string | undefined, flags: DeployFlags) => {
      const session = await Session.open(program, flags);
      const project = await session.projectId(flags.project);
      const artifact_id = await artifactId(session, project, artifact);
      await begin(session, project, 'deploy', { artifact_id, ...policyOf(flags) }, flags);
    });
};

export const rollbackCommand: AddCommand = (parent, program) => {
  const command = remote(parent, 'rollback', 'Go back to an earlier artifact.', [
    'artifacts.listOfProject',
    'deployments.rollback',
    'deployments.get',
  ]).argument('[artifact]', 'id or hash; default what was deployed before');
  withPolicy(command)
    .addHelpText('after', `\n${EXIT_CODES}\n\nExamples:\n  $ gw-control rollback --project shop --wait`)
    .action(async (artifact: string | undefined, flags: DeployFlags) => {
      const session = await Session.open(program, flags);
      const project = await session.projectId(flags.project);
      const to = artifact === undefined ? {} : { artifact_id: await artifactId(session, project, artifact) };
      await begin(session, project, 'rollback', { ...to, ...policyOf(flags) }, flags);
    });
};

export const deploymentsCommand: AddCommand = (parent, program) => {
  const command = group(
    parent,
    'deployments',
    'Deployments of a project, and what became of them.',
    '  $ gw-control deployments list --project shop\n  $ gw-control deployments get 01a20041-4136-7572-8367-a77cc14881d6 --project shop',
  );

  remote(command, 'list', 'List deployments.', ['deployments.list'])
    .addOption(projectOption())
    .addOption(
      new Option('--status <status>', 'only with it').choices([
        'in_progress',
        'succeeded',
        'failed',
        'timed_out',
        'superseded',
        'rolled_back',
      ]),
    )
    .option('--limit <n>', 'most of the list', '50')
    .action(async (flags: ServerFlags & { project?: string; status?: string; limit: string }) => {
      const session = await Session.open(program, flags);
      const path = `/projects/${await session.projectId(flags.project)}/deployments`;
      const found = await session.api.list<Deployment>(path, { query: { status: flags.status } }, Number(flags.limit));
      const rows = found.map((each) => [
        each.deployment_id,
        each.kind,
        each.status,
        `${each.applied}/${each.target_data_planes}`,
        short(each.artifact_hash),
        each.created_by,
        time(each.created_at),
      ]);
      session.printTable(found, ['ID', 'KIND', 'STATUS', 'APPLIED', 'ARTIFACT', 'BY', 'AT'], rows, 'no deployments');
    });

  remote(command, 'get', 'Show a deployment, data plane by data plane.', ['deployments.get'])
    .argument('<id>')
    .addOption(projectOption())
    .action(async (id: string, flags: ServerFlags & { project?: string }) => {
      const session = await Session.open(program, flags);
      show(session, await read(session, await session.projectId(flags.project), id));
    });

  remote(command, 'watch', 'Follow a deployment until it has ended.', ['deployments.get'])
    .argument('<id>')
    .addOption(projectOption())
    .action(async (id: string, flags: ServerFlags & { project?: string }) => {
      const session = await Session.open(program, flags);
      report(session, await ended(session, await session.projectId(flags.project), id));
    });
};

function withPolicy(command: Command): Command {
  return command
    .addOption(projectOption())
    .addOption(
      new Option('--timeout <seconds>', 'for data planes to answer; default 60').argParser(wholeNumber(1, 3600)),
    )
    .addOption(
      new Option(
        '--rollback-threshold <share>',
        'share of data planes that may refuse before the previous artifact is deployed again, or "never"; default 0.5',
      ).argParser(shareOrNever),
    )
    .option('--wait', 'until it has ended, with progress');
}

function policyOf({ timeout, rollbackThreshold }: DeployFlags): object {
  return {
    ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
    ...(rollbackThreshold === undefined ? {} : { rollback_threshold: rollbackThreshold }),
  };
}

async function begin(session: Session, project: string, verb: string, json: object, flags: DeployFlags): Promise<void> {
  const begun = await session.api.json<Deployment>(`/projects/${project}/${verb}`, { method: 'POST', json });
  if (flags.wait) return report(session, await ended(session, project, begun.deployment_id));
  show(session, await read(session, project, begun.deployment_id));
}

const read = (session: Session, project: string, id: string) =>
  session.api.json<DeploymentDetail>(`/projects/${project}/deployments/${id}`);

/** Milliseconds between two looks. */
const LOOK_MS = 300;

async function ended(session: Session, project: string, id: string): Promise<DeploymentDetail> {
  let stopped = false;
  void session.program.stopped.then(() => {
    stopped = true;
  });
  let shown = '';
  for (;;) {
    const deployment = await read(session, project, id);
    const progress = `${deployment.applied} of ${deployment.target_data_planes} data planes serve it${deployment.refused > 0 ? `, ${deployment.refused} refused` : ''}`;
    if (progress !== shown) session.note(progress);
    shown = progress;
    if (deployment.status !== 'in_progress') return deployment;
    if (stopped) throw new Error(`stopped waiting: gw-control deployments watch ${id} goes on`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Throws where it did not succeed, so that the exit code says so. */
function report(session: Session, deployment: DeploymentDetail): void {
  show(session, deployment);
  if (deployment.status !== 'succeeded') throw new OutcomeFailure('the deployment did not succeed');
}

function show(session: Session, deployment: DeploymentDetail): void {
  session.printFields(deployment, [
    ['id', deployment.deployment_id],
    ['status', deployment.status],
    ['reason', deployment.reason ?? ''],
    ['artifact', `${deployment.artifact_id} (${short(deployment.artifact_hash)})`],
    ['previous artifact', deployment.previous_artifact_id ?? 'none'],
    ['data planes', `${deployment.target_data_planes}: ${deployment.applied} serve it, ${deployment.refused} refused`],
    ['begun', time(deployment.created_at)],
    ['ended', time(deployment.completed_at)],
  ]);
  for (const { name, status, reason } of deployment.targets) {
    if (status !== 'applied') session.note(`${name}: ${status}${reason ? `, ${reason}` : ''}`);
  }
}

async function artifactId(session: Session, project: string, given: string | undefined): Promise<string> {
  if (given !== undefined && /^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(given)) return given;
  const found = await session.api.list<Artifact>(`/projects/${project}/artifacts`);
  const hash = given?.replace(/^sha256:/, '') ?? '';
  const fitting = found.filter(({ artifact_hash }) => artifact_hash.startsWith(`sha256:${hash}`));
  const [first] = fitting;
  if (first === undefined) {
    throw new ApiError(
      given === undefined
        ? 'the project has no artifacts: make one with gw-control compile'
        : `the project has no artifact "${given}": see gw-control artifacts list`,
      404,
    );
  }
  const hashes = new Set(fitting.map(({ artifact_hash }) => artifact_hash));
  if (given !== undefined && hashes.size > 1)
    throw new ApiError(`several artifacts begin with "${given}": give more of the hash`, 409);
  return first.id;
}

const shareOrNever = (text: string): number | null => (text === 'never' ? null : share(text));
