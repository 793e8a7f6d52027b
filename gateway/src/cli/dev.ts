/** `gw dev` (docs/reference/cli.md#dev): compiles, serves, and does both again when a file changes. */

import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { INSPECTOR_PATH } from '../admin/inspector.ts';
import type { RoutesFile } from '../artifact/format.ts';
import type { CompileResult, Diagnostic } from '../compiler/index.ts';
import { messageOf } from '../message-of.ts';
import type { ServeFlags } from '../options/serve-options.ts';
import { type RunningGateway, startGateway } from '../serve/serve.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { wholeNumber } from './options.ts';
import { EXIT_FAILURE, type Program } from './program.ts';
import { ProjectWatcher } from './project-watcher.ts';
import { ReadPaths } from './read-paths.ts';
import { cacheOptions, type RemotePluginFlags, remotePluginsOf } from './remote-plugins.ts';
import { serveDefaults, serveOption, serveOptions, THIS_MACHINE } from './serve-flags.ts';
import { listOption, option } from './variables.ts';

/** Options of `gw serve` that it has too. */
const SERVED = [
  ...(['listen', 'logLevel', 'logFormat', 'adminBind'] as const),
  ...(['maxBodySize', 'maxHeaders', 'maxHeaderSize', 'maxUriLength', 'egressAllow'] as const),
] as const;

interface Flags extends RemotePluginFlags, Pick<ServeFlags, (typeof SERVED)[number]> {
  readonly manifest: string;
  readonly spec: readonly string[];
  readonly mock: boolean;
  readonly debounceMs: number;
}

/** Lines for eyes, and open to the machine itself. */
const STANDARD: Partial<Record<(typeof SERVED)[number], string>> = { logFormat: 'pretty', egressAllow: 'this machine' };

const EXAMPLES = `
Examples:
  $ gw dev
  $ gw dev --mock --spec openapi.yaml
  $ gw dev --manifest gw.yaml --listen 127.0.0.1:9000
  $ gw dev --spec specs/books.yaml --egress-allow 10.0.0.0/8

Always in development mode: verbose problem documents, plaintext upstreams and upstreams on this machine allowed.
A change that does not compile is reported, and the previous version stays in use.`;

const NO_MANIFEST =
  '\n  A new project: gw init my-project. A document as it is: gw dev --mock --spec openapi.yaml. A manifest elsewhere: --manifest.';

export function devCommand(program: Program): Command {
  const served = (name: (typeof SERVED)[number]) => serveOption(name, STANDARD[name]);
  const command = new Command('dev')
    .description('Serve a project; recompile and reload it when a file changes.')
    .addOption(served('listen'))
    .addOption(option('-m, --manifest <path>', 'project manifest').default('gw.yaml'))
    .addOption(listOption('-s, --spec <file>', 'spec file, instead of the folder', "the manifest's folder"))
    .addOption(
      option(
        '--mock',
        'answer with examples and values made from the schemas, in place of every other dispatcher; with --spec, a manifest is not needed',
      ).default(false),
    )
    .addOption(served('logLevel'))
    .addOption(served('logFormat'))
    .addOption(served('adminBind'))
    .addOption(
      option('--debounce-ms <ms>', 'delay before compiling after a change')
        .argParser(wholeNumber(0, 60_000))
        .default(300),
    )
    .addOption(served('maxBodySize'))
    .addOption(served('maxHeaders'))
    .addOption(served('maxHeaderSize'))
    .addOption(served('maxUriLength'))
    .addOption(served('egressAllow'));
  for (const each of cacheOptions()) command.addOption(each);
  return command.addHelpText('after', EXAMPLES).action((flags: Flags) => run(flags, program));
}

async function run(flags: Flags, program: Program): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'gw-dev-'));
  const log = createLog(flags.logLevel, flags.logFormat);
  const server = new DevServer(flags, program, log, join(dir, 'dev.gwa'));
  const end = async (code: number) => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
    await log.flush();
    program.exit(code);
  };
  program.onSignal('SIGINT', () => void end(0));
  program.onSignal('SIGTERM', () => void end(0));
  try {
    await server.start();
  } catch (error) {
    program.stderr(`gw dev: ${messageOf(error)}\n`);
    await end(EXIT_FAILURE);
  }
}

class DevServer {
  readonly #flags: Flags;
  readonly #program: Program;
  readonly #log: Log;
  readonly #artifact: string;
  #gateway: RunningGateway | null = null;
  readonly #watcher: ProjectWatcher;
  /** One build after the other. */
  #building: Promise<void> = Promise.resolve();

  constructor(flags: Flags, program: Program, log: Log, artifact: string) {
    this.#flags = flags;
    this.#program = program;
    this.#log = log;
    this.#artifact = artifact;
    this.#watcher = new ProjectWatcher(flags.debounceMs, () => {
      this.#building = this.#building.then(() => this.#rebuild());
    });
  }

  /** Rejects where the gateway cannot start for a reason that no change of the project's files mends. */
  async start(): Promise<void> {
    this.#building = this.#build();
    await this.#building;
    if (this.#gateway === null) this.#program.stderr('gw dev: waiting for a change that compiles\n');
    await this.#log.flush();
  }

  async stop(): Promise<void> {
    this.#watcher.close();
    await this.#gateway?.stop();
  }

  async #rebuild(): Promise<void> {
    try {
      await this.#build();
    } catch (error) {
      this.#program.stderr(`gw dev: ${messageOf(error)}\n`);
    }
    await this.#log.flush();
  }

  /** Compiles; where that succeeds, serves the result. Diagnostics are printed, not thrown. */
  async #build(): Promise<void> {
    const started = performance.now();
    const result = await this.#compile();
    if (result === null) return;
    for (const diagnostic of result.diagnostics) this.#program.stderr(`${describe(diagnostic)}\n`);
    if (!result.ok) return;
    await writeFile(this.#artifact, result.artifact);
    const ms = Math.round(performance.now() - started);
    if (this.#gateway) {
      await this.#gateway.reload();
      this.#program.stderr(`reloaded in ${ms} ms: ${result.manifest.routes_count} routes\n`);
    } else {
      this.#gateway = await this.#serve();
      this.#program.stderr(await overview(this.#artifact));
      this.#program.stderr(`compiled in ${ms} ms; http://${shown(this.#gateway.address)}\n`);
      this.#program.stderr(await this.#inspector());
    }
  }

  /** Where its tools are called by hand; empty where it has none, or there is no admin port. */
  async #inspector(): Promise<string> {
    const { readArtifact } = await import('../artifact/index.ts');
    const adminAddress = this.#gateway?.adminAddress ?? null;
    if (adminAddress === null || (await readArtifact(this.#artifact)).tools === null) return '';
    return `tools for agents: http://${shown(adminAddress)}${INSPECTOR_PATH}\n`;
  }

  async #compile(): Promise<CompileResult | null> {
    const [{ compile }, { readProjectFolder, SpecFileError }, { ManifestError }] = await Promise.all([
      import('../compiler/index.ts'),
      import('./project-folder.ts'),
      import('./manifest.ts'),
    ]);
    const { manifest, spec: specs, mock } = this.#flags;
    const egressAllow = [...THIS_MACHINE, ...this.#flags.egressAllow];
    const reads = new ReadPaths();
    try {
      const remotePlugins = await remotePluginsOf({ ...this.#flags, egressAllow }, true, this.#program);
      const project = await readProjectFolder({
        ...{ manifest, specs, remotePlugins, reads },
        flags: { allowPlaintext: true, mock },
      });
      return await compile(project, { missing: (name) => reads.named(name) });
    } catch (error) {
      if (!(error instanceof ManifestError || error instanceof SpecFileError)) throw error;
      const hint = existsSync(manifest) ? '' : NO_MANIFEST;
      this.#program.stderr(`gw dev: ${error.message}${hint}\n`);
      return null;
    } finally {
      this.#watcher.follow(reads);
    }
  }

  #serve(): Promise<RunningGateway> {
    const { env, stderr } = this.#program;
    const { manifest: _, spec: _spec, mock: _mock, debounceMs: _debounce, cacheDir: _cache, ...served } = this.#flags;
    return startGateway(
      {
        ...serveOptions({ ...serveDefaults(), ...served, artifact: this.#artifact }, env),
        watchArtifact: false,
        dev: true,
        allowPlaintextUpstream: true,
        egressAllow: [...THIS_MACHINE, ...served.egressAllow],
        shutdownTimeout: 1,
        trustedKeys: [],
      },
      { log: this.#log, stderr },
    );
  }
}

/** As docs/reference/cli.md#dev has it: `<file> compile error: <code> — <message>`. */
function describe({ file, line, severity, code, message, hint }: Diagnostic): string {
  const where = line === undefined ? (file ?? 'project') : `${file}:${line}`;
  return `${where} compile ${severity}: ${code} — ${message}${hint ? ` (${hint})` : ''}`;
}

async function overview(artifact: string): Promise<string> {
  const { readArtifact } = await import('../artifact/index.ts');
  const { operations }: RoutesFile = (await readArtifact(artifact)).routes;
  const rows = operations.map(({ method, path, middlewares, dispatch }) => {
    const chain = [...middlewares, dispatch].map(({ name }) => name).join(' → ');
    return `  ${method.padEnd(7)} ${path}  ${chain}\n`;
  });
  const most = 40;
  return rows.slice(0, most).join('') + (rows.length > most ? `  … and ${rows.length - most} more\n` : '');
}

function shown({ address, port }: AddressInfo): string {
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
