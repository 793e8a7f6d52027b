/** `gw-control specs`. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { wholeNumber } from '@gw/gateway/command-line';
import { Option } from 'commander';
import { parse } from 'yaml';
import type { BindingDecision, BindingOutcome, Spec } from '../modules/specs/schemas.ts';
import { packFolder } from './pack-folder.ts';
import type { AddCommand } from './program.ts';
import { saveTo } from './save-to.ts';
import { group, projectOption, remote, type ServerFlags, Session, short, time } from './session.ts';

const EXAMPLES = `  $ gw-control specs push books.yaml --project shop
  $ gw-control specs push openapi.yaml --name books --project shop
  $ gw-control specs push specs/ --entry books.yaml --project shop
  $ gw-control specs content books --revision 2 --output books-2.yaml
  $ gw-control specs bind books --patch patch.yaml
  $ gw-control specs push books.yaml --project shop --bindings keep`;

interface SpecFlags extends ServerFlags {
  readonly project?: string;
}

interface PushFlags extends SpecFlags {
  readonly name?: string;
  readonly entry?: string;
  readonly bindings?: BindingDecision;
}

interface ContentFlags extends SpecFlags {
  readonly revision?: number;
  readonly output?: string;
  readonly withoutBindings?: boolean;
}

export const specsCommand: AddCommand = (parent, program) => {
  const command = group(parent, 'specs', 'OpenAPI and AsyncAPI documents with their revisions.', EXAMPLES);

  remote(command, 'push', 'Upload a spec: a new one, or the next revision.', ['specs.upload', 'specs.uploadToProject'])
    .argument('<path>', 'file, or folder with a document and the files that it refers to')
    .addOption(projectOption())
    .option('--name <name>', 'name of the spec, and of its document in artifacts; default the base name of the file')
    .option('--entry <file>', 'file in the folder that is the document')
    .addOption(
      new Option(
        '--bindings <what>',
        'bindings whose operation is changed or lost: apply and keep them, or delete them; default: refuse the upload',
      ).choices(['keep', 'discard']),
    )
    .action(async (path: string, flags: PushFlags) => {
      const session = await Session.open(program, flags);
      const folder = await packFolder(path);
      const bytes = folder ?? (await readFile(path));
      const file = new File([new Uint8Array(bytes)], folder ? `${basename(path)}.tar` : basename(path));
      const form = { name: flags.name, entry: flags.entry, bindings: flags.bindings, file };
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
        ...done.bindings.map((each) => ['binding', bindingLine(each)] as const),
      ]);
      if (done.note !== undefined) session.note(`note: ${done.note}`);
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

  remote(command, 'content', 'Download a revision.', ['specs.content'])
    .argument('<spec>', 'name or id')
    .addOption(projectOption())
    .addOption(new Option('--revision <n>', 'default the latest').argParser(wholeNumber(1, 2_147_483_647)))
    .option('--without-bindings', 'as it was uploaded; default with its bindings, as it is compiled')
    .option('-o, --output <file>', 'output file; default standard output')
    .action(async (name: string, flags: ContentFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.specId(name, flags.project) };
      const query = { revision: flags.revision, ...(flags.withoutBindings ? { bindings: 'without' as const } : {}) };
      const content = await session.client.response('specs.content', { params, query });
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

  remote(command, 'bind', 'Bind dispatch and middlewares to operations, for this document and later ones.', [
    'specs.updateOperations',
  ])
    .argument('<spec>', 'name or id')
    .addOption(projectOption())
    .requiredOption('--patch <file>', 'YAML or JSON: by operation id, its `dispatch` and `middlewares`; null removes')
    .action(async (name: string, flags: SpecFlags & { patch: string }) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.specId(name, flags.project) };
      const body = parse(await readFile(flags.patch, 'utf8'));
      // Sent without an expectation: the file contains the whole change, so that others' bindings do not matter.
      const done = await session.client.call('specs.updateOperations', { params, body });
      session.printFields(done, [
        ['name', done.name],
        ['revision', String(done.revision)],
      ]);
    });

  remote(command, 'bindings', 'List plugins that are bound to operations beside the document.', ['specs.bindings'])
    .argument('<spec>', 'name or id')
    .addOption(projectOption())
    .action(async (name: string, flags: SpecFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.specId(name, flags.project) };
      const found = await session.client.list('specs.bindings', { params });
      const rows = found.map((each) => [
        each.method,
        each.path,
        each.operation_id ?? '',
        each.state,
        each.middlewares === undefined ? '' : (each.middlewares ?? []).map((use) => use.name).join(' > ') || 'none',
        each.dispatch === undefined ? '' : (each.dispatch?.name ?? 'none'),
        each.created_by,
        each.reason ?? '',
      ]);
      session.printTable(
        found,
        ['METHOD', 'PATH', 'OPERATION', 'STATE', 'MIDDLEWARES', 'DISPATCH', 'BY', 'REASON'],
        rows,
        'no bindings: make some with gw-control specs bind',
      );
    });

  remote(command, 'unbind', "Delete a binding: the document's own chain counts again.", [
    'specs.bindings',
    'specs.unbind',
  ])
    .argument('<spec>', 'name or id')
    .argument('<operation>', 'operation id, or "METHOD /path"')
    .addOption(projectOption())
    .action(async (name: string, operation: string, flags: SpecFlags) => {
      const session = await Session.open(program, flags);
      const params = { id: await session.specId(name, flags.project) };
      const found = await session.client.list('specs.bindings', { params });
      const binding =
        found.find((each) => each.operation_id === operation) ??
        found.find((each) => `${each.method} ${each.path}` === operation);
      if (!binding) throw new Error(`nothing is bound to "${operation}": see gw-control specs bindings ${name}`);
      await session.client.call('specs.unbind', { params: { ...params, binding_id: binding.id } });
      session.note(`the binding of ${operation} is deleted`);
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

function bindingLine({ state, was, operation_id, reason }: BindingOutcome): string {
  const operation = operation_id === null ? was : `${was} (${operation_id})`;
  return `${state}: ${operation}${reason === null ? '' : `: ${reason}`}`;
}
