/** State of the capability for an artifact, and for a config. */

import { type ArtifactServices, type HttpCaller, InitSlot, type Own } from '../../../kit.ts';
import type { ArtifactDeliveries } from './deliveries.ts';
import type { Mirror } from './mirror.ts';
import type { RequestLog } from './request-log.ts';
import type { DeliveryServices } from './services.ts';

export interface LoadedDeliveries {
  readonly http: HttpCaller;
  readonly deliveries: ArtifactDeliveries;
  readonly log: ArtifactServices['log'];
}

/** Objects that `init` has opened. */
export class Bound {
  readonly log = new InitSlot<RequestLog>('host_request_log_open');
  readonly mirror = new InitSlot<Mirror>('host_mirror_open');
}

export type DeliveriesOwn = Own<LoadedDeliveries, Bound>;

export function servicesFor({ http, deliveries, log }: LoadedDeliveries, plugin: string): DeliveryServices {
  return { http, deliveries, plugin, log: (level, message) => log(level, plugin, message) };
}
