/** Context of a command that calls the server: the server, the output, the default project. */
import { readFile } from 'node:fs/promises';
import { dataFormat, oldSpelling, printable, table, wholeNumber } from '@gw/gateway/command-line';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ApiError } from '../client/api-error.ts';
import { ControlClient } from '../client/client.ts';
import type { OperationId } from '../client/operation-types.ts';
import { contextsFile, readContexts } from './contexts.ts';
import { findId, isId } from './find-id.ts';
import { formatted } from './formatted.ts';
import type { Program } from './program.ts';

export interface ServerFlags {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly context?: string;
  readonly format?: string;
}

const DEFAULT_SERVER = 'http://127.0.0.1:9090';

/** The operations of the REST API that a command calls. */
const operations = new WeakMap<Command, readonly OperationId[]>();

/** Returns the operations declared with `remote`; empty for a command that calls no server. */
export const operationsOf = (command: Command): readonly OperationId[] => operations.get(command) ?? [];

/** Adds a command that calls these operations of the server, with the options that all such commands have. */
export function remote(parent: Command, name: string, description: string, calls: readonly OperationId[]): Command {
  const command = parent
    .command(name)
    .description(description)
    .addOption(new Option('--server <url>', 'URL of the control plane').env('GW_CONTROL_SERVER').argParser(serverUrl))
    .addOption(
      new Option('--token-file <file>', 'file with the token; default GW_CONTROL_TOKEN, then the token of the context'),
    )
    .addOption(new Option('--context <name>', 'context to use instead of the current one').env('GW_CONTROL_CONTEXT'))
    .addOption(dataFormat())
    .addOption(oldSpelling('--json', '--format json').implies({ format: 'json' }));
  operations.set(command, calls);
  return command;
}

/** Adds a group of commands. */
export function group(parent: Command, name: string, description: string, examples: string): Command {
  return parent.command(name).description(description).addHelpText('after', `\nExamples:\n${examples}`);
}

export const projectOption = () =>
  new Option('-p, --project <name-or-id>', "the project; default the context's").env('GW_CONTROL_PROJECT');

export const limitOption = () =>
  new Option('--limit <n>', 'maximum number of entries').argParser(wholeNumber(1, 1_000_000)).default(50);

/** `http://host:9090`, `https://gw.example.org/control`. */
export function serverUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError(`Give a URL, such as ${DEFAULT_SERVER}.`);
  return url.href.replace(/\/+$/, '');
}

export class Session {
  readonly client: ControlClient;
  /** `text`, `json` or `yaml`. */
  readonly format: string;
  readonly #program: Program;
  readonly #project: string | undefined;

  private constructor(program: Program, client: ControlClient, format: string, project: string | undefined) {
    this.#program = program;
    this.client = client;
    this.format = format;
    this.#project = project;
  }

  static async open(program: Program, flags: ServerFlags): Promise<Session> {
    const file = contextsFile(program.env);
    const { current, contexts } = await readContexts(file);
    const name = flags.context ?? current;
    const context = name === null ? undefined : contexts[name];
    if (flags.context !== undefined && context === undefined) {
      throw new Error(`there is no context "${flags.context}" in ${file}: see gw-control context list`);
    }
    const server = flags.server ?? context?.server ?? DEFAULT_SERVER;
    // A token of a context is for its server only.
    const own = server === context?.server ? context.token : undefined;
    const token = flags.tokenFile
      ? (await readFile(flags.tokenFile, 'utf8')).trim()
      : program.env['GW_CONTROL_TOKEN'] || own;
    return new Session(program, new ControlClient({ server, token }), flags.format ?? 'text', context?.project);
  }

  /** Returns the id of the project, given by name or id. Throws with instructions if the command has no project. */
  async projectId(given: string | undefined): Promise<string> {
    const wanted = given ?? this.#project;
    if (wanted === undefined) throw new Error('no project is named: give --project, or set one in the context');
    if (isId(wanted)) return wanted;
    const found = await this.client.list('projects.list', { query: { name: wanted } });
    const project = found.find(({ name }) => name === wanted);
    if (project) return project.id;
    throw new ApiError(`there is no project "${wanted}": see gw-control projects list`, 404);
  }

  /** Returns the id of a spec, by name (in the default project, or outside projects) or id. */
  async specId(given: string, project: string | undefined): Promise<string> {
    if (isId(given)) return given;
    const named = project ?? this.#project;
    const query = { name: given };
    const found =
      named === undefined
        ? await this.client.list('specs.list', { query })
        : await this.client.list('specs.listOfProject', { params: { id: await this.projectId(named) }, query });
    const specs = found.filter(({ name }) => name === given);
    const spec = specs.length === 1 ? specs[0] : specs.find(({ project_id }) => project_id === null);
    if (spec) return spec.id;
    if (specs.length === 0) throw new ApiError(`there is no spec "${given}": see gw-control specs list`, 404);
    throw new ApiError(`${specs.length} projects have a spec "${given}": choose one with --project`, 409);
  }

  /** Returns the id of an artifact, by hash or id; in the default project, else in all. */
  artifactId(given: string, project: string | undefined, { firstOfHash = true } = {}): Promise<string> {
    const wanted = { what: 'artifact', given, list: 'gw-control artifacts list', firstOfHash };
    return findId(wanted, async () => {
      const found = this.hasProject(project)
        ? await this.client.list('artifacts.listOfProject', { params: { id: await this.projectId(project) } })
        : await this.client.list('artifacts.list');
      return found.map(({ id, artifact_hash }) => ({ id, hash: artifact_hash }));
    });
  }

  /** Reports whether a project is named or in the context; else the command is about resources outside projects. */
  hasProject(given: string | undefined): boolean {
    return (given ?? this.#project) !== undefined;
  }

  /** Prints the value in a format for programs if one is requested, else the text. */
  print(value: unknown, text: () => string): void {
    this.#program.stdout(formatted(this.format, value, text));
  }

  /** Prints columns with these headings, or a line if there are no rows. */
  printTable(
    items: readonly unknown[],
    headings: readonly string[],
    rows: readonly (readonly string[])[],
    none: string,
  ): void {
    if (rows.length === 0) this.note(none);
    this.print(items, () => (rows.length === 0 ? '' : table([headings, ...rows])));
  }

  /** Prints one resource, a line for each of its fields. */
  printFields(value: object, fields: readonly (readonly [name: string, text: string])[]): void {
    this.print(value, () => table(fields.filter(([, text]) => text !== '').map(([name, text]) => [`${name}:`, text])));
  }

  /** Writes a note for people to standard error. */
  note(text: string): void {
    if (this.format === 'text') this.#program.stderr(`${printable(text)}\n`);
  }

  /** Warns people on standard error, also beside JSON output. */
  warn(text: string): void {
    this.#program.stderr(`${printable(text)}\n`);
  }

  get program(): Program {
    return this.#program;
  }
}

/** Formats a time for people, as short as possible. */
export function time(text: string | null | undefined): string {
  return text ? text.replace('T', ' ').replace(/\.\d+Z$/, 'Z') : '';
}

export const short = (hash: string | null | undefined): string => (hash ?? '').replace(/^sha256:/, '').slice(0, 12);
