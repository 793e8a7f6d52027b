/** What the capability keeps for an artifact, and for a config. */
import type { ArtifactServices, Own } from '../../capability/capability.ts';
import type { HttpCaller } from '../../egress/http-client.ts';
import type { ArtifactDeliveries } from './deliveries.ts';
import type { RequestLog } from './request-log.ts';

export interface LoadedDeliveries {
  readonly http: HttpCaller;
  readonly deliveries: ArtifactDeliveries;
  readonly log: ArtifactServices['log'];
}

/** What `init` has opened. */
export class Bound {
  log: RequestLog | null = null;
}

export type DeliveriesOwn = Own<LoadedDeliveries, Bound>;
