/** `host_request_log_*`: an entry about each request that has ended, sent in batches. */

import { type CapabilityFunction, OPENER } from '../../../kit.ts';
import { type DeliveriesOwn, type LoadedDeliveries, servicesFor } from './loaded.ts';
import { logAtEnd, RequestLog } from './request-log.ts';

type LogFunction = CapabilityFunction<DeliveriesOwn, LoadedDeliveries>;

const host_request_log_open: LogFunction = {
  ...OPENER,
  meaning:
    'in `init`: opens the log that the whole config describes, with the properties of `http-log`; unusable settings reject the config',
  make:
    (call, { loaded, bound }) =>
    () =>
      bound().log.open(call, ({ config, name }) => new RequestLog(config.whole, servicesFor(loaded, name))),
};

const host_request_log_add: LogFunction = {
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
};

export const logFunctions = { host_request_log_open, host_request_log_add };
