/** `gw-control api-keys`, `gw-control tokens`, `gw-control whoami`. */
import { Option } from 'commander';
import { ROLES, type Role } from '../access/actor.ts';
import type { ApiKey } from '../modules/api-keys/schemas.ts';
import type { Token } from '../modules/tokens/schemas.ts';
import { type Candidate, findId } from './find-id.ts';
import type { AddCommand } from './program.ts';
import { group, projectOption, remote, type ServerFlags, Session, time } from './session.ts';

interface ProjectFlags extends ServerFlags {
  readonly project?: string;
}

const state = (revoked: string | null, expires: string | null = null): string => {
  if (revoked !== null) return 'revoked';
  return expires !== null && Date.parse(expires) <= Date.now() ? 'expired' : 'active';
};

const namedUnlessRevoked = ({ id, name, revoked_at }: ApiKey | Token): Candidate => ({
  id,
  name: revoked_at === null ? name : undefined,
});

export const apiKeysCommand: AddCommand = (parent, program) => {
  const command = group(
    parent,
    'api-keys',
    'Keys that data planes of a project connect with.',
    '  $ gw-control api-keys create edge --project shop\n  $ gw-control api-keys list --project shop',
  );

  remote(command, 'create', 'Create a key; it is shown this once.', ['apiKeys.create'])
    .argument('<name>', 'for people')
    .addOption(projectOption())
    .action(async (name: string, flags: ProjectFlags) => {
      const session = await Session.open(program, flags);
      const project = await session.projectId(flags.project);
      const made = await session.client.call('apiKeys.create', { params: { id: project }, body: { name } });
      session.note('the key is shown this once; a gateway comes with it:');
      session.note(`  GW_API_KEY=… ${connectCommand(session.client.server, project)}`);
      session.print(made, () => `${made.key}\n`);
    });

  remote(command, 'list', 'List keys.', ['apiKeys.list'])
    .addOption(projectOption())
    .action(async (flags: ProjectFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.projectId(flags.project) };
      const found = await session.client.list('apiKeys.list', { params });
      const rows = found.map((each) => [
        each.name,
        each.prefix,
        state(each.revoked_at),
        each.id,
        time(each.created_at),
        time(each.last_used_at),
      ]);
      session.printTable(found, ['NAME', 'KEY', 'STATE', 'ID', 'CREATED', 'LAST USED'], rows, 'no keys');
    });

  remote(command, 'revoke', 'Revoke a key: data planes that came with it are disconnected.', [
    'apiKeys.revoke',
    'apiKeys.list',
  ])
    .argument('<key>', 'name or id; by a name, the one that is not revoked yet')
    .addOption(projectOption())
    .action(async (given: string, flags: ProjectFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.projectId(flags.project) };
      const wanted = { what: 'active key', given, list: 'gw-control api-keys list' };
      const key_id = await findId(wanted, async () =>
        (await session.client.list('apiKeys.list', { params })).map(namedUnlessRevoked),
      );
      await session.client.call('apiKeys.revoke', { params: { ...params, key_id } });
      session.note(`key ${given} is revoked`);
    });
};

/** Returns the same command as in the console. */
const connectCommand = (server: string, project: string): string =>
  `gw serve --control-plane ${server.replace(/^http/, 'ws')}/ws/data-plane --project-id ${project} --cache-dir ./cache`;

export const tokensCommand: AddCommand = (parent, program) => {
  const command = group(
    parent,
    'tokens',
    'Tokens that people and programs call the control plane with.',
    '  $ gw-control tokens create ci --role deployer --project shop --expires 2027-01-01T00:00:00Z\n  $ gw-control tokens list',
  );

  remote(command, 'create', 'Create a token; it is shown this once.', ['tokens.create'])
    .argument('<name>', 'unique; the audit log names the token by it')
    .addOption(new Option('--role <role>', 'what it may do').choices([...ROLES]).makeOptionMandatory())
    .option('-p, --project <name-or-id>', 'the one project that it opens; default all')
    .option('--expires <time>', 'until when it opens anything, as in 2027-01-01T00:00:00Z; default no end')
    .action(async (name: string, flags: ProjectFlags & { role: Role; expires?: string }) => {
      const session = await Session.open(program, flags);
      const body = {
        name,
        role: flags.role,
        ...(flags.project === undefined ? {} : { project_id: await session.projectId(flags.project) }),
        ...(flags.expires === undefined ? {} : { expires_at: flags.expires }),
      };
      const made = await session.client.call('tokens.create', { body });
      session.note('the token is shown this once');
      session.print(made, () => `${made.token}\n`);
    });

  remote(command, 'list', 'List tokens.', ['tokens.list']).action(async (flags: ServerFlags) => {
    const session = await Session.open(program, flags);
    const found = await session.client.list('tokens.list');
    const rows = found.map((each) => [
      each.name,
      each.prefix,
      each.role,
      each.project_id ?? 'all',
      state(each.revoked_at, each.expires_at),
      each.id,
      time(each.last_used_at),
    ]);
    session.printTable(found, ['NAME', 'TOKEN', 'ROLE', 'PROJECT', 'STATE', 'ID', 'LAST USED'], rows, 'no tokens');
  });

  remote(command, 'revoke', 'Revoke a token, at once.', ['tokens.revoke', 'tokens.list'])
    .argument('<token>', 'name or id')
    .action(async (given: string, flags: ServerFlags) => {
      const session = await Session.open(program, flags);
      const wanted = { what: 'active token', given, list: 'gw-control tokens list' };
      const id = await findId(wanted, async () => (await session.client.list('tokens.list')).map(namedUnlessRevoked));
      await session.client.call('tokens.revoke', { params: { id } });
      session.note(`token ${given} is revoked`);
    });
};

export const whoamiCommand: AddCommand = (parent, program) => {
  remote(parent, 'whoami', 'Show whose credentials are used, and what they open.', ['tokens.whoami']).action(
    async (flags: ServerFlags) => {
      const session = await Session.open(program, flags);
      const identity = await session.client.call('tokens.whoami');
      session.printFields(identity, [
        ['server', session.client.server],
        ['actor', identity.actor],
        ['role', identity.role],
        ['project', identity.project_id ?? 'all'],
        ['until', time(identity.expires_at)],
      ]);
    },
  );
};
