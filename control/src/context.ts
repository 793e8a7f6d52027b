/** Dependencies that all services share. */
import type { Logger } from 'pino';
import type { Blobs } from './db/blobs.ts';
import type { Database } from './db/database.ts';
import type { Metrics } from './telemetry/metrics.ts';

export interface Context {
  readonly db: Database;
  readonly blobs: Blobs;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Id of this process in the table of replicas. */
  readonly replicaId: string;
}
