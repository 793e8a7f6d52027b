/** `gw-control deploy`, `gw-control rollback` and `gw-control deployments`. */
import { share, wholeNumber } from '@gw/gateway/command-line';
import { type Command, Option } from 'commander';
import { ApiError } from '../client/api-error.ts';
import type { Deployment, DeploymentDetail, DeployRequest } from '../modules/deployments/schemas.ts';
import { OutcomeFailure } from './failure.ts';
import { findId } from './find-id.ts';
import type { AddCommand } from './program.ts';
import { group, limitOption, projectOption, remote, type ServerFlags, Session, short, time } from './session.ts';

interface DeployFlags extends ServerFlags {
  readonly project?: string;
  readonly timeout?: number;
  readonly rollbackThreshold?: number | null;
  readonly wait?: boolean;
}

const EXIT_CODES =
  'Exit codes: 0 deployed (without --wait: begun), 1 the request failed, or was not understood, 3 it did not succeed.';

export const deployCommand: AddCommand = (parent, program) => {
  const command = remote(parent, 'deploy', 'Deploy an artifact to the data planes of a project.', [
    'artifacts.listOfProject',
    'compilations.listOfProject',
    'deployments.deploy',
    'deployments.get',
  ]).argument(
    '[artifact]',
    'id or hash, or the beginning of a hash; default what the project last compiled or imported',
  );
  withPolicy(command)
    .addHelpText(
      'after',
      `\n${EXIT_CODES}\n\nExamples:\n  $ gw-control deploy --project shop --wait\n  $ gw-control deploy sha256:3f2a --timeout 120 --rollback-threshold 0.1 --wait`,
    )
    .action(async (artifact: string | undefined, flags: DeployFlags) => {
      const session = await Session.open(program, flags);
      const project = await session.projectId(flags.project);
      const artifact_id =
        artifact === undefined ? await latestArtifact(session, project) : await session.artifactId(artifact, project);
      const body = { artifact_id, ...policyOf(flags) };
      await begun(session, await session.client.call('deployments.deploy', { params: { id: project }, body }), flags);
    });
};

export const rollbackCommand: AddCommand = (parent, program) => {
  const command = remote(parent, 'rollback', 'Go back to an earlier artifact.', [
    'artifacts.listOfProject',
    'deployments.rollback',
    'deployments.get',
  ]).argument(
    '[artifact]',
    'id or hash, or the beginning of a hash; default what was served before, and has not failed',
  );
  withPolicy(command)
    .addHelpText('after', `\n${EXIT_CODES}\n\nExamples:\n  $ gw-control rollback --project shop --wait`)
    .action(async (artifact: string | undefined, flags: DeployFlags) => {
      const session = await Session.open(program, flags);
      const project = await session.projectId(flags.project);
      const to = artifact === undefined ? {} : { artifact_id: await session.artifactId(artifact, project) };
      const body = { ...to, ...policyOf(flags) };
      await begun(session, await session.client.call('deployments.rollback', { params: { id: project }, body }), flags);
    });
};

export const deploymentsCommand: AddCommand = (parent, program) => {
  const command = group(
    parent,
    'deployments',
    'Deployments of a project, and what became of them.',
    '  $ gw-control deployments list --project shop\n  $ gw-control deployments get a77cc14881d6 --project shop',
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
    .addOption(limitOption())
    .action(async (flags: ServerFlags & { project?: string; status?: Deployment['status']; limit: number }) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.projectId(flags.project) };
      const query = { status: flags.status };
      const found = await session.client.list('deployments.list', { params, query }, { limit: flags.limit });
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

  remote(command, 'get', 'Show a deployment, data plane by data plane.', ['deployments.get', 'deployments.list'])
    .argument('<deployment>', DEPLOYMENT)
    .addOption(projectOption())
    .action(async (given: string, flags: ServerFlags & { project?: string }) => {
      const session = await Session.open(program, flags);
      const project = await session.projectId(flags.project);
      show(session, await read(session, project, await deploymentId(session, project, given)));
    });

  remote(command, 'watch', 'Follow a deployment until it has ended.', ['deployments.get', 'deployments.list'])
    .argument('<deployment>', DEPLOYMENT)
    .addOption(projectOption())
    .action(async (given: string, flags: ServerFlags & { project?: string }) => {
      const session = await Session.open(program, flags);
      const project = await session.projectId(flags.project);
      report(session, await ended(session, project, await deploymentId(session, project, given)));
    });
};

const DEPLOYMENT = 'id, or the hash of its artifact; the beginning is enough';

/** Returns the id of a deployment. Of several with the same artifact, it is the newest. */
function deploymentId(session: Session, project: string, given: string): Promise<string> {
  const wanted = { what: 'deployment', given, list: 'gw-control deployments list', firstOfHash: true };
  return findId(wanted, async () => {
    const found = await session.client.list('deployments.list', { params: { id: project } });
    return found.map(({ deployment_id, artifact_hash }) => ({ id: deployment_id, hash: artifact_hash }));
  });
}

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

function policyOf({ timeout, rollbackThreshold }: DeployFlags): Omit<DeployRequest, 'artifact_id'> {
  return {
    ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
    ...(rollbackThreshold === undefined ? {} : { rollback_threshold: rollbackThreshold }),
  };
}

async function begun(session: Session, deployment: Deployment, flags: DeployFlags): Promise<void> {
  const { project_id, deployment_id, warning } = deployment;
  if (warning !== null) session.warn(warning);
  if (flags.wait) return report(session, await ended(session, project_id, deployment_id));
  show(session, await read(session, project_id, deployment_id));
}

const read = (session: Session, id: string, deployment_id: string): Promise<DeploymentDetail> =>
  session.client.call('deployments.get', { params: { id, deployment_id } });

/** Milliseconds between two reads. */
const LOOK_MS = 300;

async function ended(session: Session, project: string, id: string): Promise<DeploymentDetail> {
  let stopped = false;
  void session.program.stopped().then(() => {
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

/** Throws if the deployment did not succeed, so that the exit code shows it. */
function report(session: Session, deployment: DeploymentDetail): void {
  show(session, deployment);
  if (deployment.status !== 'succeeded') throw new OutcomeFailure('the deployment did not succeed');
}

function show(session: Session, deployment: DeploymentDetail): void {
  session.printFields(deployment, [
    ['id', deployment.deployment_id],
    ['status', deployment.status],
    ['reason', deployment.reason ?? ''],
    ['artifact', `${deployment.artifact_id ?? 'gone'} (${short(deployment.artifact_hash)})`],
    ['previous artifact', deployment.previous_artifact_id ?? 'none'],
    ['data planes', `${deployment.target_data_planes}: ${deployment.applied} serve it, ${deployment.refused} refused`],
    ['begun', time(deployment.created_at)],
    ['ended', time(deployment.completed_at)],
  ]);
  for (const { name, status, reason } of deployment.targets) {
    if (status !== 'applied') session.note(`${name}: ${status}${reason ? `, ${reason}` : ''}`);
  }
}

/**
 * Returns the last compiled or imported artifact. A compilation whose output exists already creates no artifact, so the
 * order of artifacts alone is not enough. Warns if later sources did not compile.
 */
async function latestArtifact(session: Session, project: string): Promise<string> {
  const { client } = session;
  const params = { id: project };
  const query = { status: 'succeeded' } as const;
  const first = { limit: 1 };
  const [[artifact], [compilation], [succeeded]] = await Promise.all([
    client.list('artifacts.listOfProject', { params }, first),
    client.list('compilations.listOfProject', { params }, first),
    client.list('compilations.listOfProject', { params, query }, first),
  ]);
  if (artifact === undefined) {
    const why = compilation?.status === 'failed' ? `, since its compilation ${compilation.id} failed` : '';
    throw new ApiError(`the project has no artifacts${why}: make one with gw-control compile`, 404);
  }
  const { artifact_id, artifact_hash, completed_at = '' } = succeeded ?? {};
  const isAgain = artifact_id !== undefined && completed_at > artifact.created_at;
  const latest = isAgain
    ? { id: artifact_id, hash: artifact_hash, at: completed_at }
    : { id: artifact.id, hash: artifact.artifact_hash, at: artifact.created_at };
  const { id, status, created_at = '' } = compilation ?? {};
  if (status !== undefined && status !== 'succeeded' && created_at > latest.at) {
    const became = status === 'failed' ? 'has failed' : 'has not ended';
    session.warn(
      `the latest compilation ${became} (gw-control compilations get ${id}): this deploys what was before, ${short(latest.hash)} of ${time(latest.at)}`,
    );
  }
  return latest.id;
}

const shareOrNever = (text: string): number | null => (text === 'never' ? null : share(text));
