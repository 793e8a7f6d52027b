/** `gw-control artifacts`. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { AddCommand } from './program.ts';
import { saveTo } from './save-to.ts';
import { group, limitOption, projectOption, remote, type ServerFlags, Session, short, time } from './session.ts';

const EXAMPLES = `  $ gw-control artifacts list --project shop
  $ gw-control artifacts download 3f2a9c --output shop.gwa
  $ gw serve --artifact shop.gwa
  $ gw-control artifacts import shop.gwa --project shop && gw-control deploy --project shop`;

const ARTIFACT = 'id or hash, or the beginning of a hash';

export const artifactsCommand: AddCommand = (parent, program) => {
  const command = group(parent, 'artifacts', 'Artifacts: the results of compilations.', EXAMPLES);

  remote(command, 'list', 'List artifacts, the latest first.', ['artifacts.list', 'artifacts.listOfProject'])
    .addOption(projectOption())
    .option('--hash <hash>', 'filter by artifact hash, or the beginning of one')
    .addOption(limitOption())
    .action(async (flags: ServerFlags & { project?: string; hash?: string; limit: number }) => {
      const session = await Session.open(program, flags);
      const hash = `sha256:${(flags.hash ?? '').toLowerCase().replace(/^sha256:/, '')}`;
      const { limit } = flags;
      const read = flags.hash === undefined ? { limit } : {};
      const all = session.hasProject(flags.project)
        ? await session.client.list(
            'artifacts.listOfProject',
            { params: { id: await session.projectId(flags.project) } },
            read,
          )
        : await session.client.list('artifacts.list', {}, read);
      const found = all.filter(({ artifact_hash }) => artifact_hash.startsWith(hash)).slice(0, limit);
      const rows = found.map((each) => [
        each.id,
        short(each.artifact_hash),
        String(each.routes_count),
        each.signed ? 'yes' : 'no',
        each.production ? 'yes' : 'no',
        String(each.size),
        time(each.created_at),
      ]);
      session.printTable(
        found,
        ['ID', 'HASH', 'ROUTES', 'SIGNED', 'PRODUCTION', 'BYTES', 'CREATED'],
        rows,
        'no artifacts: make one with gw-control compile',
      );
    });

  remote(command, 'get', 'Show an artifact; with --format json its manifest, too.', [
    'artifacts.get',
    'artifacts.list',
    'artifacts.listOfProject',
  ])
    .argument('<artifact>', ARTIFACT)
    .addOption(projectOption())
    .action(async (given: string, flags: ServerFlags & { project?: string }) => {
      const session = await Session.open(program, flags);
      const id = await session.artifactId(given, flags.project);
      const artifact = await session.client.call('artifacts.get', { params: { id } });
      session.printFields(artifact, [
        ['id', artifact.id],
        ['project', artifact.project_id ?? 'none'],
        ['hash', artifact.artifact_hash],
        ['file sha256', artifact.sha256],
        ['bytes', String(artifact.size)],
        ['routes', String(artifact.routes_count)],
        ['specs', artifact.specs.join(', ')],
        ['plugins', artifact.plugins.map(({ name, version }) => `${name}@${version}`).join(', ')],
        ['signed', artifact.signed ? 'yes' : 'no'],
        ['production', artifact.production ? 'yes' : 'no'],
        ['compiler', artifact.compiler_version],
        ['created', `${time(artifact.created_at)} by ${artifact.created_by}`],
      ]);
    });

  remote(command, 'tools', 'List the tools that agents are offered of an artifact, with their size in tokens.', [
    'artifacts.tools',
    'artifacts.list',
    'artifacts.listOfProject',
  ])
    .argument('<artifact>', ARTIFACT)
    .addOption(projectOption())
    .action(async (given: string, flags: ServerFlags & { project?: string }) => {
      const session = await Session.open(program, flags);
      const id = await session.artifactId(given, flags.project);
      const listing = await session.client.call('artifacts.tools', { params: { id } });
      const rows = listing.tools.map(({ definition, method, path, tokens }) => [
        ...[String(definition['name']), `${method} ${path}`, String(tokens), String(definition['title'] ?? '-')],
      ]);
      const none = listing.enabled ? 'no tools' : 'no tools: no document has x-gw-mcp: {enabled: true}';
      session.printTable(listing.tools, ['TOOL', 'OPERATION', 'TOKENS', 'TITLE'], rows, none);
      for (const warning of listing.warnings) session.note(`warning: ${warning}`);
    });

  remote(command, 'documents', 'List the OpenAPI documents of an artifact, and the files that they refer to.', [
    'artifacts.documents',
    'artifacts.list',
    'artifacts.listOfProject',
  ])
    .argument('<artifact>', ARTIFACT)
    .addOption(projectOption())
    .action(async (given: string, flags: ServerFlags & { project?: string }) => {
      const session = await Session.open(program, flags);
      const id = await session.artifactId(given, flags.project);
      const { documents } = await session.client.call('artifacts.documents', { params: { id } });
      const rows = documents.map(({ name, api }) => [name, api ? 'API' : 'referred to']);
      session.printTable(documents, ['DOCUMENT', 'KIND'], rows, 'no documents');
    });

  remote(command, 'import', 'Import an artifact that gw compile made: its hash and signature stay.', [
    'artifacts.import',
  ])
    .argument('<file>', 'the .gwa file')
    .addOption(projectOption())
    .option('--production', 'the artifact is a production build')
    .action(async (file: string, flags: ServerFlags & { project?: string; production?: boolean }) => {
      const session = await Session.open(program, flags);
      const artifact = await session.client.call('artifacts.import', {
        params: { id: await session.projectId(flags.project) },
        form: {
          file: new File([await openAsBlob(file)], basename(file)),
          production: flags.production ? 'true' : undefined,
        },
      });
      session.printFields(artifact, [
        ['id', artifact.id],
        ['hash', artifact.artifact_hash],
        ['signed', artifact.signed ? 'yes' : 'no'],
      ]);
    });

  remote(command, 'download', 'Download an artifact file.', [
    'artifacts.download',
    'artifacts.list',
    'artifacts.listOfProject',
  ])
    .argument('<artifact>', ARTIFACT)
    .addOption(projectOption())
    .option('-o, --output <file>', 'output file; default standard output')
    .action(async (given: string, flags: ServerFlags & { project?: string; output?: string }) => {
      const session = await Session.open(program, flags);
      const id = await session.artifactId(given, flags.project);
      await saveTo(await session.client.response('artifacts.download', { params: { id } }), flags.output, program);
    });

  remote(command, 'delete', 'Delete an artifact.', ['artifacts.delete', 'artifacts.list', 'artifacts.listOfProject'])
    .argument('<artifact>', ARTIFACT)
    .addOption(projectOption())
    .action(async (given: string, flags: ServerFlags & { project?: string }) => {
      const session = await Session.open(program, flags);
      const id = await session.artifactId(given, flags.project, { firstOfHash: false });
      await session.client.call('artifacts.delete', { params: { id } });
      session.note(`artifact ${id} is deleted`);
    });
};
