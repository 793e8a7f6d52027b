/** The control plane as a library: what the REST server, and whoever embeds it, calls. */
import { randomUUIDv7 } from 'node:crypto';
import { type Logger, pino } from 'pino';
import { Access } from './access/access.ts';
import type { Context } from './context.ts';
import { Blobs } from './db/blobs.ts';
import { openDatabase } from './db/database.ts';
import { seedBuiltinPlugins } from './plugins/builtin-plugins.ts';
import { ApiKeys } from './resources/api-keys/service.ts';
import { Audit } from './resources/audit/service.ts';
import { DataPlanes } from './resources/data-planes/service.ts';
import { Deployments } from './resources/deployments/service.ts';
import { Projects } from './resources/projects/service.ts';
import { Specs } from './resources/specs/service.ts';
import { Tokens } from './resources/tokens/service.ts';

export interface ControlPlaneOptions {
  /** `postgres://…`, or `pglite://DIR` for the embedded one. */
  readonly databaseUrl: string;
  /** Run migrations that are missing; false: refuse to start with them. Default true. */
  readonly migrate?: boolean;
  /** Register the plugins that come with gw. Default true. */
  readonly seedPlugins?: boolean;
  readonly log?: Logger;
}

export interface ControlPlane {
  readonly context: Context;
  readonly access: Access;
  readonly projects: Projects;
  readonly specs: Specs;
  readonly apiKeys: ApiKeys;
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly deployments: Deployments;
  readonly dataPlanes: DataPlanes;
  close(): Promise<void>;
}

/** Throws with what to do where the database cannot be opened. */
export async function openControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { databaseUrl, migrate = true, seedPlugins = true, log = pino({ enabled: false }) } = options;
  const db = await openDatabase(databaseUrl, { log });
  try {
    if (migrate) await db.migrate();
    else await mustBeMigrated(db);
    if (seedPlugins) await seedBuiltinPlugins({ db, blobs: new Blobs(db.kysely), log });
  } catch (error) {
    await db.close();
    throw error;
  }
  const context: Context = { db, blobs: new Blobs(db.kysely), log, replicaId: randomUUIDv7() };
  const access = new Access(db, log);
  return {
    context,
    access,
    projects: new Projects(context),
    specs: new Specs(context),
    apiKeys: new ApiKeys(context),
    tokens: new Tokens(context),
    audit: new Audit(context),
    deployments: new Deployments(context),
    dataPlanes: new DataPlanes(context),
    close: async () => {
      access.close();
      await db.close();
    },
  };
}

async function mustBeMigrated(db: Awaited<ReturnType<typeof openDatabase>>): Promise<void> {
  const pending = await db.pendingMigrations();
  if (pending.length === 0) return;
  throw new Error(`the database lacks ${pending.join(', ')}: run gw-control migrate, or start with --migrate`);
}
