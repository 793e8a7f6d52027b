/** The control plane as a library, for the REST server and programs that embed it. */
import { randomUUIDv7 } from 'node:crypto';
import { type Logger, pino } from 'pino';
import { Access } from './access/access.ts';
import type { Context } from './context.ts';
import { Blobs } from './db/blobs.ts';
import { openDatabase } from './db/database.ts';
import { mustBeMigrated } from './db/migrations.ts';
import { ApiKeys } from './modules/api-keys/service.ts';
import { Artifacts } from './modules/artifacts/service.ts';
import { Audit } from './modules/audit/service.ts';
import type { CompileSettings } from './modules/compilations/compile-job.ts';
import { JobRunner } from './modules/compilations/runner.ts';
import { Compilations } from './modules/compilations/service.ts';
import { DataPlanes } from './modules/data-planes/service.ts';
import { Deployments } from './modules/deployments/service.ts';
import { seedBuiltinPlugins } from './modules/plugins/builtin-plugins.ts';
import { PluginChecks } from './modules/plugins/plugin-checks.ts';
import { Plugins } from './modules/plugins/service.ts';
import { ProjectPlugins } from './modules/project-plugins/service.ts';
import { Projects } from './modules/projects/service.ts';
import { Specs } from './modules/specs/service.ts';
import { Tokens } from './modules/tokens/service.ts';
import type { RetentionOptions } from './retention/retention.ts';
import { Sweeper } from './retention/sweeper.ts';
import { Metrics } from './telemetry/metrics.ts';

export interface ControlPlaneOptions extends CompileSettings, RetentionOptions {
  /** `postgres://…`, or `pglite://DIR` for the embedded one. */
  readonly databaseUrl: string;
  /** Run migrations that are missing; false: refuse to start with them. Default true. */
  readonly migrate?: boolean;
  /** Register the plugins that come with gw. Default true. */
  readonly seedPlugins?: boolean;
  /** Concurrent compilations; 0: this process leaves them to other replicas. Default: 1. */
  readonly compileConcurrency?: number;
  /** Milliseconds that closing waits for running compilations; other replicas take the rest. Default: 10,000. */
  readonly drainMs?: number;
  readonly log?: Logger;
}

export interface ControlPlane {
  readonly context: Context;
  readonly access: Access;
  readonly projects: Projects;
  readonly specs: Specs;
  readonly plugins: Plugins;
  readonly projectPlugins: ProjectPlugins;
  readonly apiKeys: ApiKeys;
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly compilations: Compilations;
  readonly artifacts: Artifacts;
  readonly deployments: Deployments;
  readonly dataPlanes: DataPlanes;
  close(): Promise<void>;
}

const DRAIN_MS = 10_000;

/** Throws, with instructions, if the database cannot be opened. */
export async function openControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { databaseUrl, migrate = true, seedPlugins = true, log = pino({ enabled: false }) } = options;
  await using opened = new AsyncDisposableStack();
  const db = opened.adopt(await openDatabase(databaseUrl, { log }), (each) => each.close());
  if (migrate) await db.migrate();
  else await mustBeMigrated(db);
  if (seedPlugins) await seedBuiltinPlugins({ db, blobs: new Blobs(db.kysely), log });
  const context: Context = {
    db,
    blobs: new Blobs(db.kysely),
    log,
    metrics: new Metrics(),
    replicaId: randomUUIDv7(),
  };
  const checks = opened.adopt(new PluginChecks(), (each) => each.close());
  const access = opened.adopt(new Access(db, log), (each) => each.close());
  const runner = new JobRunner(context, { ...options, concurrency: options.compileConcurrency ?? 1 });
  const sweeper = new Sweeper(context, options);
  opened.defer(() => Promise.all([runner.close(options.drainMs ?? DRAIN_MS), sweeper.close()]).then(() => undefined));
  const running = opened.move();
  return {
    context,
    access,
    projects: new Projects(context),
    specs: new Specs(context),
    plugins: new Plugins(context, checks),
    projectPlugins: new ProjectPlugins(context, checks),
    apiKeys: new ApiKeys(context),
    tokens: new Tokens(context),
    audit: new Audit(context),
    compilations: new Compilations(context),
    artifacts: new Artifacts(context),
    deployments: new Deployments(context),
    dataPlanes: new DataPlanes(context),
    close: () => running.disposeAsync(),
  };
}
