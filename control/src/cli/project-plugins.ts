/** `gw-control project-plugins`: which plugins a project uses, and their config. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { newestVersion } from '../modules/plugins/version-order.ts';
import type { ProjectPlugin, ProjectPluginInput } from '../modules/project-plugins/schemas.ts';
import type { AddCommand } from './program.ts';
import { group, projectOption, remote, type ServerFlags, Session, time } from './session.ts';

const EXAMPLES = `  $ gw-control project-plugins add rate-limit --project shop --config rate-limit.yaml
  $ gw-control project-plugins update rate-limit --disable --project shop
  $ gw-control project-plugins list --project shop`;

interface PluginFlags extends ServerFlags {
  readonly project?: string;
  readonly config?: string;
  readonly version?: string;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

export const projectPluginsCommand: AddCommand = (parent, program) => {
  const command = group(parent, 'project-plugins', 'The plugins that a project uses, and their config.', EXAMPLES);

  remote(command, 'list', 'List the plugins of a project; with --format json their config, too.', [
    'projectPlugins.list',
  ])
    .addOption(projectOption())
    .action(async (flags: PluginFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.projectId(flags.project) };
      const found = await session.client.list('projectPlugins.list', { params });
      const rows = found.map((each) => [
        each.plugin_name,
        each.plugin_version,
        each.enabled ? 'yes' : 'no',
        Object.keys(each.config).join(', '),
        time(each.updated_at),
      ]);
      session.printTable(found, ['NAME', 'VERSION', 'ENABLED', 'CONFIGURED', 'UPDATED'], rows, 'no plugins: add one');
    });

  remote(command, 'add', 'Have a project use a plugin.', ['projectPlugins.add', 'plugins.versions'])
    .argument('<name>')
    .argument('[version]', 'default: the newest registered version')
    .addOption(projectOption())
    .option('--config <file>', 'YAML or JSON')
    .option('--disable', 'add it disabled: no operation can use it yet')
    .action(async (name: string, version: string | undefined, flags: PluginFlags) => {
      const session = await Session.open(program, flags);
      const body = {
        plugin_name: name,
        plugin_version: version ?? (await newestOf(session, name)),
        enabled: flags.disable !== true,
        ...(flags.config === undefined ? {} : { config: await readConfig(flags.config) }),
      };
      const params = { id: await session.projectId(flags.project) };
      show(session, await session.client.call('projectPlugins.add', { params, body }));
    });

  remote(command, 'update', 'Change version or config; what is not given stays.', [
    'projectPlugins.list',
    'projectPlugins.update',
  ])
    .argument('<name>')
    .addOption(projectOption())
    .option('--version <version>', 'version of the plugin')
    .option('--config <file>', 'YAML or JSON; replaces the config')
    .option('--enable', 'let operations use it')
    .option('--disable', 'let no operation use it')
    .action(async (name: string, flags: PluginFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.projectId(flags.project) };
      const known = await session.client.list('projectPlugins.list', { params });
      const before = known.find(({ plugin_name }) => plugin_name === name);
      if (!before) throw new Error(`the project does not use "${name}": add it with gw-control project-plugins add`);
      const body = {
        plugin_name: name,
        plugin_version: flags.version ?? before.plugin_version,
        enabled: flags.enable === true || (flags.disable !== true && before.enabled),
        config: flags.config === undefined ? before.config : await readConfig(flags.config),
      };
      show(session, await session.client.call('projectPlugins.update', { params: { ...params, name }, body }));
    });

  remote(command, 'remove', 'Remove a plugin from a project.', ['projectPlugins.remove'])
    .argument('<name>')
    .addOption(projectOption())
    .action(async (name: string, flags: PluginFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.projectId(flags.project), name };
      await session.client.call('projectPlugins.remove', { params });
      session.note(`plugin ${name} is removed from the project`);
    });
};

async function newestOf(session: Session, name: string): Promise<string> {
  const found = await session.client.call('plugins.versions', { params: { name } });
  return newestVersion(found.map(({ version }) => version));
}

async function readConfig(file: string): Promise<NonNullable<ProjectPluginInput['config']>> {
  return parse(await readFile(file, 'utf8')) ?? {};
}

function show(session: Session, plugin: ProjectPlugin): void {
  session.printFields(plugin, [
    ['plugin', `${plugin.plugin_name}@${plugin.plugin_version}`],
    ['enabled', plugin.enabled ? 'yes' : 'no'],
    ['config', JSON.stringify(plugin.config)],
    ['updated', time(plugin.updated_at)],
  ]);
}
