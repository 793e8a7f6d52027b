/** `gw-control projects` and `gw-control init`. */
import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import type { InitInput, Project } from '../modules/projects/schemas.ts';
import type { AddCommand, Program } from './program.ts';
import { group, remote, type ServerFlags, Session, time } from './session.ts';

const EXAMPLES = `  $ gw-control projects create shop --description "The web shop"
  $ gw-control projects update shop --upstream inventory=https://inventory.example.org
  $ gw-control projects list --format json`;

interface ProjectFlags extends ServerFlags {
  readonly name?: string;
  readonly description?: string;
  readonly upstream?: Readonly<Record<string, string>>;
  readonly mcp?: string;
}

export const projectsCommand: AddCommand = (parent, program) => {
  const command = group(
    parent,
    'projects',
    'Projects: specs, plugins, keys and data planes that belong together.',
    EXAMPLES,
  );

  remote(command, 'list', 'List projects.', ['projects.list'])
    .option('--name <text>', 'filter by part of the name')
    .action(async (flags: ServerFlags & { name?: string }) => {
      const session = await Session.open(program, flags);
      const found = await session.client.list('projects.list', { query: { name: flags.name } });
      const rows = found.map((each) => [each.name, each.id, each.deployed_artifact_id ?? '', time(each.created_at)]);
      session.printTable(
        found,
        ['NAME', 'ID', 'DEPLOYED', 'CREATED'],
        rows,
        'no projects: make one with gw-control init',
      );
    });

  remote(command, 'get', 'Show a project.', ['projects.get'])
    .argument('<project>', 'name or id')
    .option('--id', 'print only the id, for gw serve --project-id')
    .action(async (name: string, flags: ServerFlags & { id?: boolean }) => {
      const session = await Session.open(program, flags);
      if (flags.id) return program.stdout(`${await session.projectId(name)}\n`);
      show(session, await session.client.call('projects.get', { params: { id: await session.projectId(name) } }));
    });

  remote(command, 'create', 'Create a project.', ['projects.create'])
    .argument('<name>')
    .option('--description <text>', 'description for people')
    .addOption(upstreamOption())
    .addOption(mcpOption())
    .action(async (name: string, { description, upstream, mcp, ...flags }: ProjectFlags) => {
      const session = await Session.open(program, flags);
      const body = {
        name,
        ...(description === undefined ? {} : { description }),
        ...(upstream ? { upstreams: upstream } : {}),
        ...(mcp === undefined ? {} : { mcp: await mcpFrom(mcp) }),
      };
      show(session, await session.client.call('projects.create', { body }));
    });

  remote(command, 'update', 'Change a project; what is not given stays.', ['projects.get', 'projects.update'])
    .argument('<project>', 'name or id')
    .option('--name <name>', 'new name')
    .option('--description <text>', 'description for people')
    .addOption(upstreamOption())
    .addOption(mcpOption())
    .action(async (given: string, flags: ProjectFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.projectId(given) };
      const { value: before, etag } = await session.client.read('projects.get', { params });
      const body = {
        name: flags.name ?? before.name,
        description: flags.description ?? before.description,
        upstreams: { ...before.upstreams, ...flags.upstream },
        mcp: flags.mcp === undefined ? before.mcp : await mcpFrom(flags.mcp),
      };
      const headers = { 'if-match': etag ?? '*' };
      show(session, await session.client.call('projects.update', { params, body }, { headers }));
    });

  remote(command, 'delete', 'Delete a project with all that belongs to it.', ['projects.delete'])
    .argument('<project>', 'name or id')
    .action(async (name: string, flags: ServerFlags) => {
      const session = await Session.open(program, flags);
      await session.client.call('projects.delete', { params: { id: await session.projectId(name) } });
      session.note(`project ${name} is deleted`);
    });

  remote(command, 'events', 'Follow what happens in a project, a line of JSON each.', ['projects.events'])
    .argument('[project]', "name or id; default the context's")
    .action((name: string | undefined, flags: ServerFlags) => follow(program, name, flags));
};

export const initCommand: AddCommand = (parent, program) => {
  remote(parent, 'init', 'Create a project with a starter spec and the plugins that it uses.', ['projects.init'])
    .argument('<name>')
    .option('--description <text>', 'description for people')
    .addOption(
      new Option('--type <type>', 'type of the starter spec').choices(['openapi', 'asyncapi']).default('openapi'),
    )
    .addHelpText('after', '\nExamples:\n  $ gw-control init shop\n  $ gw-control compile --project shop --wait')
    .action(
      async (name: string, flags: ServerFlags & { description?: string; type: NonNullable<InitInput['type']> }) => {
        const session = await Session.open(program, flags);
        const body = {
          name,
          type: flags.type,
          ...(flags.description === undefined ? {} : { description: flags.description }),
        };
        const made = await session.client.call('projects.init', { body });
        session.printFields(made, [
          ['project', `${made.project.name} (${made.project.id})`],
          ['spec', `${made.spec.name} (${made.spec.id})`],
        ]);
        session.note(`next: gw-control compile --project ${name} --wait`);
      },
    );
};

async function follow(program: Program, name: string | undefined, flags: ServerFlags): Promise<void> {
  const session = await Session.open(program, flags);
  const ended = new AbortController();
  void program.stopped().then(() => ended.abort());
  try {
    const params = { id: await session.projectId(name) };
    for await (const event of await session.client.events('projects.events', { params }, { signal: ended.signal })) {
      program.stdout(`${JSON.stringify(event)}\n`);
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
}

const upstreamOption = () =>
  new Option('--upstream <name=url>', 'named upstream of the project (repeatable)').argParser(
    (text: string, previous: Readonly<Record<string, string>> | undefined) => {
      const [, name, url] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      if (name === undefined || url === undefined) {
        throw new InvalidArgumentError('Give NAME=URL, such as inventory=https://inventory.example.org.');
      }
      return { ...previous, [name]: url };
    },
  );

const mcpOption = () =>
  new Option(
    '--mcp <file>',
    'YAML or JSON file with upstream MCP servers, as mcp of gw.yaml; replaces those of before',
  );

async function mcpFrom(file: string): Promise<Project['mcp']> {
  return parse(await readFile(file, 'utf8')) ?? {};
}

function show(session: Session, project: Project): void {
  session.printFields(project, [
    ['name', project.name],
    ['id', project.id],
    ['description', project.description],
    [
      'upstreams',
      Object.entries(project.upstreams)
        .map((each) => each.join('='))
        .join(', '),
    ],
    ['MCP upstreams', Object.keys(project.mcp?.upstreams ?? {}).join(', ')],
    ['deployed artifact', project.deployed_artifact_id ?? 'none'],
    ['created', time(project.created_at)],
    ['updated', time(project.updated_at)],
  ]);
}
