/**
 * Deliveries of plugins after their requests: entries about requests that have ended, sent in batches
 * (`host_request_log_*`), and copies of requests (`host_mirror_*`).
 */

import {
  type ArtifactServices,
  capability,
  HostCallError,
  type HttpCaller,
  InitSlot,
  OPENER,
  onlyIn,
} from '../../../kit.ts';
import type { DeliveryServices } from './deliveries.ts';
import { type ArtifactDeliveries, Deliveries } from './deliveries.ts';
import { DELIVERIES, QUEUED, QUEUED_BYTES } from './figures.ts';
import { copyAtDispatch, Mirror } from './mirror.ts';
import { logAtEnd, RequestLog } from './request-log.ts';

interface LoadedDeliveries {
  readonly http: HttpCaller;
  readonly deliveries: ArtifactDeliveries;
  readonly log: ArtifactServices['log'];
}

/** Bytes. */
const MAX_PATH = 65_536;

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
  bind: () => ({
    log: new InitSlot<RequestLog>('host_request_log_open'),
    mirror: new InitSlot<Mirror>('host_mirror_open'),
  }),
  close: ({ deliveries }) => deliveries.close(),
  drain: ({ all }, withinMs) => all.drain(withinMs),
  functions: {
    host_request_log_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the log that the whole config describes, with the properties of `http-log`; unusable settings reject the config',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().log.open(call, ({ config, name }) => new RequestLog(config.whole, servicesFor(loaded, name))),
    },
    host_request_log_add: {
      signature: ':i',
      parameters: '() -> 0',
      meaning:
        'an entry about this request is queued when it has ended; it is sent with others, and dropped if the queue is full',
      declared: true,
      make:
        (call, { bound }) =>
        () => {
          const log = bound().log.get('host_request_log_add');
          logAtEnd(call.request(), log);
          return 0;
        },
    },
    host_mirror_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the server that the whole config describes, with the properties of `fire-and-forget`; unusable settings reject the config',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().mirror.open(call, ({ config, name }) => new Mirror(config.whole, servicesFor(loaded, name))),
    },
    host_mirror_add: {
      signature: 'ii:i',
      parameters: '(path, len) -> 0',
      meaning:
        "in `on_request`: a copy of this request, as it is when it goes to its dispatcher, is queued for that server; nothing waits for it. `path` is appended to the path of its URL, and may have a query; empty: the request's path. The request's query is added",
      declared: true,
      make:
        (call, { bound }) =>
        (path, length) => {
          onlyIn(call, 'on_request', 'host_mirror_add');
          const mirror = bound().mirror.get('host_mirror_add');
          if (length >>> 0 > MAX_PATH) throw new HostCallError('host_mirror_add: the path is too long');
          call.charge(length);
          copyAtDispatch(call.request(), mirror, call.memory.text(path, length));
          return 0;
        },
    },
  },
});

function servicesFor({ http, deliveries, log }: LoadedDeliveries, plugin: string): DeliveryServices {
  return { http, deliveries, plugin, log: (level, message) => log(level, plugin, message) };
}
