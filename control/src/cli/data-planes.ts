/** `gw-control data-planes`. */
import { Option } from 'commander';
import type { DataPlane } from '../modules/data-planes/schemas.ts';
import { findId } from './find-id.ts';
import type { AddCommand } from './program.ts';
import { group, projectOption, remote, type ServerFlags, Session, short, time } from './session.ts';

const EXAMPLES = `  $ gw-control data-planes list --project shop
  $ gw-control data-planes disconnect edge-1 --project shop`;

interface DataPlaneFlags extends ServerFlags {
  readonly project?: string;
}

export const dataPlanesCommand: AddCommand = (parent, program) => {
  const command = group(parent, 'data-planes', 'Gateways in connected mode.', EXAMPLES);

  remote(command, 'list', 'List data planes.', ['dataPlanes.list'])
    .addOption(projectOption())
    .addOption(
      new Option('--status <status>', 'filter by status').choices([
        'connected',
        'disconnected',
        'drifted',
        'incompatible',
      ]),
    )
    .action(async (flags: DataPlaneFlags & { status?: DataPlane['status'] }) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.projectId(flags.project) };
      const found = await session.client.list('dataPlanes.list', { params, query: { status: flags.status } });
      const rows = found.map((each) => [
        each.name,
        each.status,
        short(each.current_artifact_hash),
        each.gw_version,
        each.id,
        time(each.last_seen_at),
      ]);
      session.printTable(
        found,
        ['NAME', 'STATUS', 'ARTIFACT', 'GW', 'ID', 'LAST SEEN'],
        rows,
        'no data planes: start one with gw serve --control-plane',
      );
    });

  remote(command, 'get', 'Show a data plane.', ['dataPlanes.get', 'dataPlanes.list'])
    .argument('<data-plane>', 'name or id')
    .addOption(projectOption())
    .action(async (given: string, flags: DataPlaneFlags) => {
      const session = await Session.open(program, flags);
      const found = await session.client.call('dataPlanes.get', {
        params: await paramsOf(session, given, flags.project),
      });
      session.printFields(found, [
        ['name', found.name],
        ['id', found.id],
        ['status', found.status],
        ['artifact', found.current_artifact_id ?? 'none'],
        ['artifact hash', found.current_artifact_hash ?? ''],
        ['gw', found.gw_version],
        ['address', found.address ?? ''],
        ['key', found.api_key_id ?? ''],
        ['connected', time(found.connected_at)],
        ['disconnected', time(found.disconnected_at)],
        ['last seen', time(found.last_seen_at)],
      ]);
    });

  remote(command, 'disconnect', 'Close the connection of a data plane; it may come back.', [
    'dataPlanes.disconnect',
    'dataPlanes.list',
  ])
    .argument('<data-plane>', 'name or id')
    .addOption(projectOption())
    .action(async (given: string, flags: DataPlaneFlags) => {
      const session = await Session.open(program, flags);
      await session.client.call('dataPlanes.disconnect', { params: await paramsOf(session, given, flags.project) });
      session.note(`data plane ${given} is disconnected; to keep it from reconnecting, revoke its key`);
    });
};

async function paramsOf(session: Session, given: string, project: string | undefined) {
  const params = { id: await session.projectId(project) };
  const wanted = { what: 'data plane', given, list: 'gw-control data-planes list' };
  return { ...params, dp_id: await findId(wanted, () => session.client.list('dataPlanes.list', { params })) };
}
