/** `gw-control specs`. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Option } from 'commander';
import { parse } from 'yaml';
import type { Spec, SpecOperation, SpecRevision, SpecUpload } from '../resources/specs/schemas.ts';
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
    .argument('<path>', 'file, or folder of a document and the files that it refers to')
    .addOption(projectOption())
    .option('--name <name>', 'of the spec, and of its document in what is compiled; default the base name of the file')
    .option('--entry <file>', 'which file of a folder is the document')
    .action(async (path: string, flags: PushFlags) => {
      const session = await Session.open(program, flags);
      const folder = await packFolder(path);
      const form = new FormData();
      if (flags.name !== undefined) form.set('name', flags.name);
      if (flags.entry !== undefined) form.set('entry', flags.entry);
      const bytes = folder ?? (await readFile(path));
      form.set('file', new Blob([new Uint8Array(bytes)]), folder ? `${basename(path)}.tar` : basename(path));
      const to = session.hasProject(flags.project)
        ? `/projects/${await session.projectId(flags.project)}/specs`
        : '/specs';
      const done = await session.api.json<SpecUpload>(to, { method: 'POST', form });
      session.printFields(done, [
        ['name', done.name],
        ['id', done.id],
        ['revision', String(done.revision)],
        ['sha256', done.sha256],
      ]);
    });

  remote(command, 'list', 'List specs.', ['specs.list', 'specs.listOfProject'])
    .addOption(projectOption())
    .option('--name <text>', 'part of the name')
    .addOption(new Option('--type <type>', 'only of this type').choices(['openapi', 'asyncapi']))
    .action(async (flags: SpecFlags & { name?: string; type?: string }) => {
      const session = await Session.open(program, flags);
      const from = session.hasProject(flags.project)
        ? `/projects/${await session.projectId(flags.project)}/specs`
        : '/specs';
      const found = await session.api.list<Spec>(from, { query: { name: flags.name, type: flags.type } });
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
      const spec = await session.api.json<Spec>(`/specs/${await session.specId(name, flags.project)}`);
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
      const found = await session.api.list<SpecRevision>(`/specs/${await session.specId(name, flags.project)}/history`);
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
    .option('--revision <n>', 'default the latest')
    .option('-o, --output <file>', 'default standard output')
    .action(async (name: string, flags: SpecFlags & { revision?: string; output?: string }) => {
      const session = await Session.open(program, flags);
      const path = `/specs/${await session.specId(name, flags.project)}/content`;
      await saveTo(await session.api.response(path, { query: { revision: flags.revision } }), flags.output, program);
    });

  remote(command, 'operations', 'List operations with their plugin chains.', [
    'specs.operations',
    'specs.operationsOfProject',
  ])
    .argument('[spec]', 'name or id; default all of the project')
    .addOption(projectOption())
    .action(async (name: string | undefined, flags: SpecFlags) => {
      const session = await Session.open(program, flags);
      const of =
        name === undefined
          ? `/projects/${await session.projectId(flags.project)}`
          : `/specs/${await session.specId(name, flags.project)}`;
      const found = await session.api.list<SpecOperation>(`${of}/operations`);
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
      const path = `/specs/${await session.specId(name, flags.project)}`;
      const json: unknown = parse(await readFile(flags.patch, 'utf8'));
      const contentType = 'application/merge-patch+json';
      // Whatever others bind meanwhile: the file says all that it changes, and was not made from what was read.
      const done = await session.api.json<SpecUpload>(`${path}/operations`, { method: 'PATCH', json, contentType });
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
      await session.api.json(`/specs/${await session.specId(name, flags.project)}`, { method: 'DELETE' });
      session.note(`spec ${name} is deleted`);
    });
};
