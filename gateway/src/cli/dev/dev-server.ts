/** The server of `gw dev`: one build after the other, and a gateway that serves the last one that compiles. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { INSPECTOR_PATH } from '../../admin/inspector.ts';
import { REFERENCE_PATH } from '../../admin/reference-paths.ts';
import type { CompileFlags, CompileResult } from '../../compiler/index.ts';
import { UnboundUpstreams } from '../../egress/named/bindings.ts';
import type { ServeFlags } from '../../options/serve-options.ts';
import { type RunningGateway, startGateway } from '../../serve/serve.ts';
import type { Log } from '../../telemetry/log.ts';
import { messageOf } from '../../text/message-of.ts';
import { reachableAddress } from '../../transport/listen-address.ts';
import type { Program } from '../command-line/program.ts';
import { describeLeftOut, withoutRoutes } from '../project/no-routes.ts';
import { ReadPaths } from '../project/read-paths.ts';
import { type RemotePluginFlags, remotePluginsOf } from '../project/remote-plugins.ts';
import { serveDefaults, serveOptions, THIS_MACHINE } from '../serve/serve-flags.ts';
import { DevEnvironment } from './dev-environment.ts';
import { describeInDev, devDiagnostics, devRoutes, interfacesNote, nextSteps, serverPathsNote } from './dev-report.ts';
import { ProjectWatcher } from './project-watcher.ts';

/** Options of `gw serve` that it has too. */
export const SERVED = [
  ...(['listen', 'logLevel', 'logFormat', 'adminBind'] as const),
  ...(['maxBodySize', 'maxHeaders', 'maxHeaderSize', 'maxUriLength', 'egressAllow'] as const),
] as const;

export interface DevFlags extends RemotePluginFlags, Pick<ServeFlags, (typeof SERVED)[number]> {
  readonly manifest: string;
  readonly spec: readonly string[];
  readonly mock: boolean;
  readonly mockAuth: boolean;
  readonly upstream?: string;
  readonly debounceMs: number;
}

const NO_MANIFEST = `
  a document as it is:   gw dev openapi.yaml --mock
                         gw dev openapi.yaml --upstream http://localhost:3000
  a new project:         gw init my-project
  one from a document:   gw init --from openapi.yaml my-project
  a manifest elsewhere:  gw dev --manifest path/to/gw.yaml`;

const WITHHELD =
  'gw dev: without a manifest, a document gets no secrets under --mock and --upstream: operations with env:// or file:// answer 503\n';

/** Reasons for which operations are left out, of which more are only counted. */
const MOST_REASONS = 10;

export class DevServer {
  readonly #flags: DevFlags;
  readonly #program: Program;
  readonly #log: Log;
  readonly #artifact: string;
  readonly #env: DevEnvironment;
  readonly #watcher: ProjectWatcher;
  #gateway: RunningGateway | null = null;
  /** One build after the other. */
  #building: Promise<void> = Promise.resolve();

  constructor(flags: DevFlags, program: Program, log: Log, artifact: string) {
    this.#flags = flags;
    this.#program = program;
    this.#log = log;
    this.#artifact = artifact;
    this.#env = new DevEnvironment(program.env, flags.manifest);
    this.#watcher = new ProjectWatcher(flags.debounceMs, () => {
      this.#building = this.#building.then(() => this.#rebuild());
    });
  }

  /** Rejects if the gateway cannot start for a reason that no change of the project's files mends. */
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

  /** Compiles; on success, serves the result. Diagnostics are printed, not thrown. */
  async #build(): Promise<void> {
    const started = performance.now();
    const { stderr } = this.#program;
    const compiled = await this.#compile();
    if (compiled === null) return;
    const { result, pathOf } = compiled;
    const nothing = result.ok ? withoutRoutes(result, this.#flags.spec[0]) : null;
    stderr(devDiagnostics(result, pathOf));
    if (!result.ok) return;
    const leftOut = result.leftOut.map((each) => ({ ...each, file: pathOf(each.file) }));
    const all = result.manifest.routes_count + leftOut.length;
    if (leftOut.length > 0) {
      stderr(`left out, ${leftOut.length} of ${all} operations:\n${describeLeftOut(leftOut, MOST_REASONS)}`);
    }
    if (nothing !== null) return stderr(`gw dev: ${nothing}\n`);
    await writeFile(this.#artifact, result.artifact);
    const ms = () => Math.round(performance.now() - started);
    if (this.#gateway) {
      await this.#gateway.reload();
      stderr(`reloaded in ${ms()} ms: ${result.manifest.routes_count} routes\n`);
      return;
    }
    const took = ms();
    try {
      this.#gateway = await this.#serve();
    } catch (error) {
      if (!(error instanceof UnboundUpstreams)) throw error;
      return stderr(`gw dev: ${error.message}; they are read from ${this.#upstreams}\n`);
    }
    const { readArtifact } = await import('../../artifact/index.ts');
    const { documentsOf } = await import('../../api-reference/artifact-documents.ts');
    const artifact = await readArtifact(this.#artifact);
    const { routes, tools } = artifact;
    const address = `http://${reachableAddress(this.#gateway.address)}`;
    stderr(devRoutes(routes));
    stderr(`compiled in ${took} ms; ${address}\n`);
    stderr(interfacesNote(this.#gateway.address));
    const documents = await documentsOf(artifact);
    stderr(serverPathsNote(documents.filter(({ isApi }) => isApi).map(({ document }) => document)));
    if (tools !== null && this.#gateway.adminAddress !== null) {
      stderr(`tools for agents: http://${reachableAddress(this.#gateway.adminAddress)}${INSPECTOR_PATH}\n`);
    }
    if (this.#gateway.adminAddress !== null) {
      stderr(`API reference: http://${reachableAddress(this.#gateway.adminAddress)}${REFERENCE_PATH}\n`);
    }
    const isProject = existsSync(this.#flags.manifest);
    stderr(nextSteps({ ...this.#flags, routes, address, isProject, leftOut: leftOut.length }));
  }

  /** File with the addresses of named upstreams. */
  get #upstreams(): string {
    return join(dirname(this.#flags.manifest), 'upstreams.yaml');
  }

  async #compile(): Promise<{ result: CompileResult; pathOf: (name: string) => string } | null> {
    const [{ compile }, { readProjectFolder, SpecFileError }, { ManifestError }] = await Promise.all([
      import('../../compiler/index.ts'),
      import('../project/project-folder.ts'),
      import('../project/manifest.ts'),
    ]);
    const { manifest, spec: specs } = this.#flags;
    const egressAllow = [...THIS_MACHINE, ...this.#flags.egressAllow];
    const reads = new ReadPaths();
    try {
      this.#env.read(reads, this.#isTrial);
      reads.file(this.#upstreams);
      const remotePlugins = await remotePluginsOf({ ...this.#flags, egressAllow }, true, this.#program);
      const project = await readProjectFolder({
        ...{ manifest, specs, remotePlugins, reads },
        flags: this.#compileFlags(),
        asTheyAre: true,
      });
      if (
        this.#env.isWithheld &&
        project.files.some(({ name, bytes }) => project.specs.includes(name) && refersToSecrets(bytes))
      )
        this.#program.stderr(WITHHELD);
      const { pathOf } = project;
      return { result: await compile(project, { missing: (name) => reads.named(name) }), pathOf };
    } catch (error) {
      if (!(error instanceof ManifestError || error instanceof SpecFileError)) throw error;
      if (error instanceof ManifestError && error.diagnostic) {
        this.#program.stderr(`${describeInDev(error.diagnostic)}\n`);
        return null;
      }
      const hint = existsSync(manifest) || specs.length > 0 ? '' : NO_MANIFEST;
      this.#program.stderr(`gw dev: ${error.message}${hint}\n`);
      return null;
    } finally {
      this.#watcher.follow(reads);
    }
  }

  /** Documents are served without the dispatchers that they name. */
  get #isTrial(): boolean {
    return this.#flags.mock || this.#flags.upstream !== undefined;
  }

  #compileFlags(): CompileFlags {
    const { mock, mockAuth, upstream } = this.#flags;
    return {
      allowPlaintext: true,
      mock,
      mockAuth,
      leaveOut: this.#isTrial,
      ...(upstream === undefined ? {} : { upstream }),
    };
  }

  #serve(): Promise<RunningGateway> {
    const { env, stderr } = this.#program;
    const { manifest: _, spec: _spec, debounceMs: _debounce, cacheDir: _cache, ...own } = this.#flags;
    const { mock: _mock, mockAuth: _mockAuth, upstream, ...served } = own;
    // A server named by `--upstream` may be called wherever it is.
    const named = upstream === undefined ? [] : [new URL(upstream).hostname.replaceAll(/[[\]]/g, '')];
    return startGateway(
      {
        ...serveOptions({ ...serveDefaults(), ...served, artifact: this.#artifact }, env),
        env: this.#env.variables,
        ...(this.#env.isWithheld ? { secretsDir: undefined } : {}),
        servesUnresolved: true,
        watchArtifact: false,
        upstreams: this.#upstreams,
        upstreamsMayBeMissing: true,
        dev: true,
        allowPlaintextUpstream: true,
        egressAllow: [...THIS_MACHINE, ...named, ...served.egressAllow],
        shutdownTimeout: 1,
        trustedKeys: [],
      },
      { log: this.#log, stderr },
    );
  }
}

function refersToSecrets(document: Uint8Array): boolean {
  return Buffer.from(document).includes('env://') || Buffer.from(document).includes('file://');
}
