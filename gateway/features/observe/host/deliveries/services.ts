/** Services for the config of a plugin that delivers. */

import type { HttpCaller } from '../../../kit.ts';
import type { ArtifactDeliveries } from './deliveries.ts';
import type { DeliveryLog } from './target.ts';

export interface DeliveryServices {
  readonly http: HttpCaller;
  readonly deliveries: ArtifactDeliveries;
  /** Its name, for metrics. */
  readonly plugin: string;
  readonly log: DeliveryLog;
}
