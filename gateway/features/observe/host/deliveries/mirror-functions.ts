/** `host_mirror_*`: copies of requests, sent elsewhere while the client does not wait. */

import { type CapabilityFunction, HostCallError, OPENER, onlyIn } from '../../../kit.ts';
import { type DeliveriesOwn, type LoadedDeliveries, servicesFor } from './loaded.ts';
import { Mirror } from './mirror.ts';
import { copyAtDispatch } from './mirrored-request.ts';

type MirrorFunction = CapabilityFunction<DeliveriesOwn, LoadedDeliveries>;

/** Bytes. */
const MAX_PATH = 65_536;

const host_mirror_open: MirrorFunction = {
  ...OPENER,
  meaning:
    'in `init`: opens the server that the whole config describes, with the properties of `fire-and-forget`; unusable settings reject the config',
  make:
    (call, { loaded, bound }) =>
    () =>
      bound().mirror.open(call, ({ config, name }) => new Mirror(config.whole, servicesFor(loaded, name))),
};

const host_mirror_add: MirrorFunction = {
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
};

export const mirrorFunctions = { host_mirror_open, host_mirror_add };
