/** Deliveries of plugins after their requests: entries of a log, and copies of requests. */

import { capability } from '../../../kit.ts';
import { Deliveries } from './deliveries.ts';
import { DELIVERIES, QUEUED, QUEUED_BYTES } from './figures.ts';
import { Bound, type LoadedDeliveries } from './loaded.ts';
import { logFunctions } from './log-functions.ts';
import { mirrorFunctions } from './mirror-functions.ts';

export const deliveries = capability({
  metrics: {
    gw_deliveries_total: DELIVERIES,
    gw_deliveries_queued: QUEUED,
    gw_deliveries_queued_bytes: QUEUED_BYTES,
  },
  open: ({ http, sampled }) => {
    const all = new Deliveries();
    const { figures } = all;
    sampled('gw_deliveries_total', DELIVERIES, () => figures.deliveries);
    sampled('gw_deliveries_queued', QUEUED, () => figures.gauge('queued'));
    sampled('gw_deliveries_queued_bytes', QUEUED_BYTES, () => figures.gauge('queuedBytes'));
    return { http, all };
  },
  load: ({ http, all }, { log }): LoadedDeliveries => ({ http, deliveries: all.use(), log }),
  bind: () => new Bound(),
  close: ({ deliveries }) => deliveries.close(),
  drain: ({ all }, withinMs) => all.drain(withinMs),
  functions: { ...logFunctions, ...mirrorFunctions },
});
