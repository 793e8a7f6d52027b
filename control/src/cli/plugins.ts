/** `gw-control plugins`: the registry. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Option } from 'commander';
import type { Plugin } from '../modules/plugins/schemas.ts';
import type { AddCommand } from './program.ts';
import { saveTo } from './save-to.ts';
import { group, remote, type ServerFlags, Session, time } from './session.ts';

const EXAMPLES = `  $ gw-control plugins register stamp.wasm --name stamp --version 1.0.0 --type middleware \\
      --capabilities '["host_log"]' --config-schema config-schema.json
  $ gw-control plugins versions rate-limit
  $ gw-control plugins download rate-limit 1.0.0 --output rate-limit.wasm`;

interface RegisterFlags extends ServerFlags {
  readonly name: string;
  readonly version: string;
  readonly type: Plugin['type'];
  readonly description?: string;
  readonly capabilities?: string;
  readonly configSchema?: string;
}

export const pluginsCommand: AddCommand = (parent, program) => {
  const command = group(parent, 'plugins', 'The registry of plugins.', EXAMPLES);

  remote(command, 'register', 'Register a version of a plugin.', ['plugins.register'])
    .argument('<file>', 'the WASM module')
    .requiredOption('--name <name>', 'name that specs use')
    .requiredOption('--version <version>', 'a semantic version')
    .addOption(
      new Option('--type <type>', 'kind of plugin').choices(['middleware', 'dispatcher']).makeOptionMandatory(),
    )
    .option('--description <text>', 'description for people')
    .option('--capabilities <json>', 'host functions as a JSON array, or the object that the API documents')
    .option('--config-schema <file>', 'JSON Schema of its config')
    .action(async (file: string, flags: RegisterFlags) => {
      const session = await Session.open(program, flags);
      const { name, version, type, description, capabilities, configSchema } = flags;
      const form = {
        name,
        version,
        type,
        description,
        capabilities,
        config_schema: configSchema === undefined ? undefined : await readFile(configSchema, 'utf8'),
        file: new File([new Uint8Array(await readFile(file))], basename(file), { type: 'application/wasm' }),
      };
      show(session, await session.client.call('plugins.register', { form }));
    });

  remote(command, 'list', 'List plugins, a line a version.', ['plugins.list'])
    .option('--name <text>', 'filter by part of the name')
    .addOption(new Option('--type <type>', 'filter by type').choices(['middleware', 'dispatcher']))
    .action(async (flags: ServerFlags & { name?: string; type?: Plugin['type'] }) => {
      const session = await Session.open(program, flags);
      const found = await session.client.list('plugins.list', { query: { name: flags.name, type: flags.type } });
      session.printTable(found, HEADINGS, found.map(row), 'no plugins: see gw-control seed-plugins');
    });

  remote(command, 'versions', 'List the versions of a plugin.', ['plugins.versions'])
    .argument('<name>')
    .action(async (name: string, flags: ServerFlags) => {
      const session = await Session.open(program, flags);
      const found = await session.client.call('plugins.versions', { params: { name } });
      session.printTable(found, HEADINGS, found.map(row), 'no versions');
    });

  remote(command, 'get', 'Show a version; with --format json its config schema, too.', ['plugins.get'])
    .argument('<name>')
    .argument('<version>')
    .action(async (name: string, version: string, flags: ServerFlags) => {
      const session = await Session.open(program, flags);
      show(session, await session.client.call('plugins.get', { params: { name, version } }));
    });

  remote(command, 'download', 'Download the WASM module.', ['plugins.download'])
    .argument('<name>')
    .argument('<version>')
    .option('-o, --output <file>', 'output file; default standard output')
    .action(async (name: string, version: string, flags: ServerFlags & { output?: string }) => {
      const session = await Session.open(program, flags);
      const module = await session.client.response('plugins.download', { params: { name, version } });
      await saveTo(module, flags.output, program);
    });

  remote(command, 'delete', 'Delete a version that no project uses.', ['plugins.delete'])
    .argument('<name>')
    .argument('<version>')
    .action(async (name: string, version: string, flags: ServerFlags) => {
      const session = await Session.open(program, flags);
      await session.client.call('plugins.delete', { params: { name, version } });
      session.note(`plugin ${name}@${version} is deleted`);
    });
};

const HEADINGS = ['NAME', 'VERSION', 'TYPE', 'BUILT IN', 'BYTES', 'DESCRIPTION'];

const row = (each: Plugin) => [
  each.name,
  each.version,
  each.type,
  each.builtin ? 'yes' : 'no',
  String(each.size),
  each.description,
];

function show(session: Session, plugin: Plugin): void {
  session.printFields(plugin, [
    ['name', plugin.name],
    ['version', plugin.version],
    ['type', plugin.type],
    ['description', plugin.description],
    ['capabilities', plugin.capabilities.join(', ')],
    ['bodies', `request ${plugin.request_body}, response ${plugin.response_body}`],
    ['built in', plugin.builtin ? 'yes' : 'no'],
    ['sha256', plugin.sha256],
    ['bytes', String(plugin.size)],
    ['registered', time(plugin.created_at)],
  ]);
}
