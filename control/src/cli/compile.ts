/** `gw-control compile` and `gw-control compilations`. */
import { diagnosticLine } from '@gw/gateway/diagnostic-line';
import { Option } from 'commander';
import type { Compilation, Diagnostic } from '../modules/compilations/schemas.ts';
import { OutcomeFailure } from './failure.ts';
import { findId } from './find-id.ts';
import type { AddCommand } from './program.ts';
import { group, limitOption, projectOption, remote, type ServerFlags, Session, short, time } from './session.ts';

interface CompileFlags extends ServerFlags {
  readonly project?: string;
  readonly with?: readonly string[];
  readonly production?: boolean;
  readonly wait?: boolean;
}

const EXAMPLES = `
Exit codes: 0 compiled (without --wait: asked for), 1 the request failed, or was not understood, 3 the compilation failed.

Examples:
  $ gw-control compile --project shop --wait
  $ gw-control compile books --with authors --production --wait --json`;

export const compileCommand: AddCommand = (parent, program) => {
  remote(parent, 'compile', 'Compile a spec, or all specs of a project, into an artifact.', [
    'compilations.compileSpec',
    'compilations.compileProject',
    'compilations.get',
    'compilations.events',
  ])
    .argument('[spec]', 'name or id; default: all specs of the project')
    .addOption(projectOption())
    .option('--with <specs...>', 'more specs to compile with it')
    .option('--production', 'production build: stricter checks, and signed if the server has a key')
    .option('--wait', 'wait until it has finished, and show progress')
    .addHelpText('after', EXAMPLES)
    .action(async (spec: string | undefined, flags: CompileFlags) => {
      const session = await Session.open(program, flags);
      const production = flags.production === true;
      const asked =
        spec === undefined
          ? await session.client.call('compilations.compileProject', {
              params: { id: await session.projectId(flags.project) },
              body: { production },
            })
          : await session.client.call('compilations.compileSpec', {
              params: { id: await session.specId(spec, flags.project) },
              body: {
                production,
                additional_specs: await Promise.all(
                  (flags.with ?? []).map((each) => session.specId(each, flags.project)),
                ),
              },
            });
      if (!flags.wait) return show(session, asked);
      report(session, await ended(session, asked));
    });
};

export const compilationsCommand: AddCommand = (parent, program) => {
  const command = group(
    parent,
    'compilations',
    'Compilations of specs and projects.',
    '  $ gw-control compilations list --project shop\n  $ gw-control compilations watch a77cc14881d6 --project shop',
  );

  remote(command, 'list', 'List compilations.', ['compilations.listOfProject', 'compilations.listOfSpec'])
    .addOption(projectOption())
    .option('--spec <name-or-id>', 'filter by spec')
    .addOption(
      new Option('--status <status>', 'filter by status').choices(['pending', 'compiling', 'succeeded', 'failed']),
    )
    .addOption(limitOption())
    .action(
      async (
        flags: ServerFlags & { project?: string; spec?: string; status?: Compilation['status']; limit: number },
      ) => {
        const session = await Session.open(program, flags);
        const query = { status: flags.status };
        const { limit } = flags;
        const found =
          flags.spec === undefined
            ? await session.client.list(
                'compilations.listOfProject',
                { params: { id: await session.projectId(flags.project) }, query },
                { limit },
              )
            : await session.client.list(
                'compilations.listOfSpec',
                { params: { id: await session.specId(flags.spec, flags.project) }, query },
                { limit },
              );
        const rows = found.map((each) => [
          each.id,
          each.status,
          each.production ? 'yes' : 'no',
          short(each.artifact_hash),
          time(each.created_at),
        ]);
        session.printTable(found, ['ID', 'STATUS', 'PRODUCTION', 'ARTIFACT', 'ASKED FOR'], rows, 'no compilations');
      },
    );

  remote(command, 'get', 'Show a compilation.', ['compilations.get', 'compilations.listOfProject'])
    .argument('<compilation>', COMPILATION)
    .addOption(projectOption())
    .action(async (given: string, flags: OfProject) => {
      const session = await Session.open(program, flags);
      show(session, await read(session, await idOf(session, given, flags)));
    });

  remote(command, 'watch', 'Follow a compilation until it has ended.', [
    'compilations.get',
    'compilations.events',
    'compilations.listOfProject',
  ])
    .argument('<compilation>', COMPILATION)
    .addOption(projectOption())
    .action(async (given: string, flags: OfProject) => {
      const session = await Session.open(program, flags);
      const asked = await read(session, await idOf(session, given, flags));
      report(session, await ended(session, asked));
    });

  remote(command, 'delete', 'Delete the record of a compilation.', [
    'compilations.delete',
    'compilations.listOfProject',
  ])
    .argument('<compilation>', COMPILATION)
    .addOption(projectOption())
    .action(async (given: string, flags: OfProject) => {
      const session = await Session.open(program, flags);
      await session.client.call('compilations.delete', {
        params: { id: await idOf(session, given, flags, false) },
      });
      session.note(`compilation ${given} is deleted`);
    });
};

type OfProject = ServerFlags & { readonly project?: string };
const COMPILATION = 'id, or the hash of what it made; the beginning is enough';

/**
 * Returns the id of a compilation. Of several with the same result, it is the newest, unless `firstOfHash` is false.
 */
function idOf(session: Session, given: string, { project }: OfProject, firstOfHash = true): Promise<string> {
  const list = 'gw-control compilations list';
  return findId({ what: 'compilation', given, list, firstOfHash }, async () => {
    const params = { id: await session.projectId(project) };
    const found = await session.client.list('compilations.listOfProject', { params });
    return found.map(({ id, artifact_hash }) => ({ id, hash: artifact_hash }));
  });
}

const read = (session: Session, id: string): Promise<Compilation> =>
  session.client.call('compilations.get', { params: { id } });

const isOver = ({ status }: Compilation): boolean => status === 'succeeded' || status === 'failed';

/** Follows it by events; a stream that breaks is begun again. */
async function ended(session: Session, asked: Compilation): Promise<Compilation> {
  const { id } = asked;
  const stopped = new AbortController();
  void session.program.stopped().then(() => stopped.abort());
  let latest = asked;
  while (!isOver(latest)) {
    try {
      const { signal } = stopped;
      for await (const { data: next } of await session.client.events(
        'compilations.events',
        { params: { id } },
        { signal },
      )) {
        if (!isOver(next) && next.stage !== latest.stage) session.note(`${next.stage ?? next.status}…`);
        latest = next;
      }
    } catch (error) {
      if (stopped.signal.aborted) throw new Error(`stopped waiting: gw-control compilations watch ${id} goes on`);
      if (!(error instanceof TypeError)) throw error;
    }
    if (!isOver(latest)) latest = await read(session, id);
  }
  return latest;
}

/** Throws if the compilation failed, so that the exit code shows it. */
function report(session: Session, compilation: Compilation): void {
  show(session, compilation);
  if (compilation.status === 'failed') throw new OutcomeFailure('the compilation failed');
}

function show(session: Session, compilation: Compilation): void {
  const { errors = [], warnings } = compilation;
  session.printFields(compilation, [
    ['id', compilation.id],
    ['status', compilation.stage ? `${compilation.status} (${compilation.stage})` : compilation.status],
    ['production', compilation.production ? 'yes' : 'no'],
    ['artifact', compilation.artifact_id ?? ''],
    ['artifact hash', compilation.artifact_hash ?? ''],
    ['asked for', time(compilation.created_at)],
    ['ended', time(compilation.completed_at)],
  ]);
  for (const each of [...errors, ...warnings]) session.note(noteOf(each));
}

function noteOf(diagnostic: Diagnostic): string {
  const { pointer, line, message } = diagnostic;
  return diagnosticLine(
    pointer && line === undefined ? { ...diagnostic, message: `${message} (at ${pointer})` } : diagnostic,
  );
}
