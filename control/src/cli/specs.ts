/** `gw-control specs`. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { wholeNumber } from '@gw/gateway/command-line';
import { Option } from 'commander';
import { parse } from 'yaml';
import type { Spec } from '../modules/specs/schemas.ts';
import { packFolder } from './pack-folder.ts';
import type { AddCommand } from './program.ts';
import { saveTo } from './save-to.ts';
import { group, projectOption, remote, type ServerFlags, Session, short, time } from './session.ts';

const EXAMPLES = `  $ gw-control specs push books.yaml --project shop
  $ gw-control specs push openapi.yaml --name books --project shop
  $ gw-control specs push specs/ --entry books.yaml --project shop
  $ gw-control specs content books --revision 2 --output books-2.yaml
  $ gw-control specs bind books --patch patch.yaml`;

interface SpecFlags extends ServerFlags {
  readonly project?: string;
}

interface PushFlags extends SpecFlags {
  readonly name?: string;
  readonly entry?: string;
}

export const specsCommand: AddCommand = (parent, program) => {
  const command = group(parent, 'specs', 'OpenAPI and AsyncAPI documents with their revisions.', EXAMPLES);

  remote(command, 'push', 'Upload a spec: a new one, or the next revision.', ['specs.upload', 'specs.uploadToProject'])
    .argument('<path>', 'file, or folder with a document and the files that it refers to')
    .addOption(projectOption())
    .option('--name <name>', 'name of the spec, and of its document in artifacts; default the base name of the file')
    .option('--entry <file>', 'file in the folder that is the document')
    .action(async (path: string, flags: PushFlags) => {
      const session = await Session.open(program, flags);
      const folder = await packFolder(path);
      const bytes = folder ?? (await readFile(path));
      const file = new File([new Uint8Array(bytes)], folder ? `${basename(path)}.tar` : basename(path));
      const form = { name: flags.name, entry: flags.entry, file };
      const done = session.hasProject(flags.project)
        ? await session.client.call('specs.uploadToProject', {
            params: { id: await session.projectId(flags.project) },
            form,
          })
        : await session.client.call('specs.upload', { form });
      session.printFields(done, [
        ['name', done.name],
        ['id', done.id],
        ['revision', String(done.revision)],
        ['sha256', done.sha256],
      ]);
    });

  remote(command, 'list', 'List specs.', ['specs.list', 'specs.listOfProject'])
    .addOption(projectOption())
    .option('--name <text>', 'filter by part of the name')
    .addOption(new Option('--type <type>', 'filter by type').choices(['openapi', 'asyncapi']))
    .action(async (flags: SpecFlags & { name?: string; type?: Spec['type'] }) => {
      const session = await Session.open(program, flags);
      const query = { name: flags.name, type: flags.type };
      const found = session.hasProject(flags.project)
        ? await session.client.list('specs.listOfProject', {
            params: { id: await session.projectId(flags.project) },
            query,
          })
        : await session.client.list('specs.list', { query });
      const rows = found.map((each) => [
        each.name,
        each.type,
        each.version,
        String(each.revision),
        each.id,
        time(each.updated_at),
      ]);
      session.printTable(
        found,
        ['NAME', 'TYPE', 'VERSION', 'REVISION', 'ID', 'UPDATED'],
        rows,
        'no specs: upload one with gw-control specs push',
      );
    });

  remote(command, 'get', 'Show a spec.', ['specs.get'])
    .argument('<spec>', 'name or id')
    .addOption(projectOption())
    .action(async (name: string, flags: SpecFlags) => {
      const session = await Session.open(program, flags);
      const spec = await session.client.call('specs.get', {
        params: { id: await session.specId(name, flags.project) },
      });
      session.printFields(spec, [
        ['name', spec.name],
        ['id', spec.id],
        ['project', spec.project_id ?? 'none'],
        ['type', spec.type],
        ['title', spec.title],
        ['version', spec.version],
        ['revision', String(spec.revision)],
        ['sha256', spec.sha256],
        ['updated', time(spec.updated_at)],
      ]);
    });

  remote(command, 'history', 'List the revisions of a spec.', ['specs.history'])
    .argument('<spec>', 'name or id')
    .addOption(projectOption())
    .action(async (name: string, flags: SpecFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.specId(name, flags.project) };
      const found = await session.client.list('specs.history', { params });
      const rows = found.map((each) => [
        String(each.revision),
        short(each.sha256),
        String(each.size),
        each.filename,
        each.created_by,
        time(each.created_at),
      ]);
      session.printTable(found, ['REVISION', 'SHA256', 'BYTES', 'FILE', 'BY', 'AT'], rows, 'no revisions');
    });

  remote(command, 'content', 'Download a revision as it was uploaded.', ['specs.content'])
    .argument('<spec>', 'name or id')
    .addOption(projectOption())
    .addOption(new Option('--revision <n>', 'default the latest').argParser(wholeNumber(1, 2_147_483_647)))
    .option('-o, --output <file>', 'output file; default standard output')
    .action(async (name: string, flags: SpecFlags & { revision?: number; output?: string }) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.specId(name, flags.project) };
      const content = await session.client.response('specs.content', { params, query: { revision: flags.revision } });
      await saveTo(content, flags.output, program);
    });

  remote(command, 'operations', 'List operations with their plugin chains.', [
    'specs.operations',
    'specs.operationsOfProject',
  ])
    .argument('[spec]', 'name or id; default: all specs of the project')
    .addOption(projectOption())
    .action(async (name: string | undefined, flags: SpecFlags) => {
      const session = await Session.open(program, flags);
      const found =
        name === undefined
          ? await session.client.list('specs.operationsOfProject', {
              params: { id: await session.projectId(flags.project) },
            })
          : await session.client.list('specs.operations', {
              params: { id: await session.specId(name, flags.project) },
            });
      const rows = found.map((each) => [
        each.method,
        each.path,
        each.operation_id ?? '',
        each.middlewares.map((middleware) => middleware.name).join(' > '),
        each.dispatch?.name ?? 'none',
      ]);
      session.printTable(found, ['METHOD', 'PATH', 'OPERATION', 'MIDDLEWARES', 'DISPATCH'], rows, 'no operations');
    });

  remote(command, 'bind', 'Change dispatch and middlewares of operations: a new revision.', ['specs.updateOperations'])
    .argument('<spec>', 'name or id')
    .addOption(projectOption())
    .requiredOption('--patch <file>', 'YAML or JSON: by operation id, its `dispatch` and `middlewares`; null removes')
    .action(async (name: string, flags: SpecFlags & { patch: string }) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.specId(name, flags.project) };
      const body = parse(await readFile(flags.patch, 'utf8'));
      // Whatever others bind meanwhile: the file says all that it changes, and was not made from what was read.
      const done = await session.client.call('specs.updateOperations', { params, body });
      session.printFields(done, [
        ['name', done.name],
        ['revision', String(done.revision)],
      ]);
    });

  remote(command, 'delete', 'Delete a spec with its revisions.', ['specs.delete'])
    .argument('<spec>', 'name or id')
    .addOption(projectOption())
    .action(async (name: string, flags: SpecFlags) => {
      const session = await Session.open(program, flags);
      await session.client.call('specs.delete', { params: { id: await session.specId(name, flags.project) } });
      session.note(`spec ${name} is deleted`);
    });
};
