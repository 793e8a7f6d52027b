/** `host_object_store_stream`: the host signs the request and proxies it to an S3-compatible store. */

import { type Call, capability, HostCallError, InitSlot, OPENER } from '../../../kit.ts';
import { ObjectStore } from './object-store.ts';

const HANDED_OFF = 0;

export const objectStore = capability({
  bind: () => new InitSlot<ObjectStore>('host_object_store_open'),
  functions: {
    host_object_store_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the object store that the whole config describes, with the properties of `object-store`; unusable settings reject the config',
      make:
        (call, { bound }) =>
        () =>
          bound().open(call, ({ config, services, upstreams }) =>
            ObjectStore.open(config.whole, {
              endpoint: upstreams.get('/endpoint'),
              openUpstream: (url) => services.openUpstream(url, config.whole),
            }),
          ),
    },
    host_object_store_stream: {
      signature: 'iiii:i',
      parameters: '(bucket, len, key, len) -> result',
      meaning:
        "hands the request off: the host signs it (Signature Version 4) and proxies it, both bodies streaming, to the object that bucket and key name, both percent-encoded as path parameters are sent. 0; -1: that is no name of a bucket; -2: that is no key: it is empty, not UTF-8, or has a segment `.` or `..`; -3: the request's query is not UTF-8. Below 0, nothing is handed off",
      declared: true,
      relays: true,
      make:
        (call, { bound }) =>
        (bucket, bucketLength, key, keyLength) => {
          if (call.hook !== 'dispatch') {
            throw new HostCallError(`host_object_store_stream is for dispatchers, not ${call.hook}`);
          }
          return handOff(call, bound().get('host_object_store_stream'), {
            bucket: call.memory.text(bucket, bucketLength),
            key: call.memory.text(key, keyLength),
          });
        },
    },
  },
});

function handOff(call: Call, store: ObjectStore, named: { bucket: string; key: string }): number {
  const exchange = call.request();
  call.charge((exchange.query ?? '').length);
  const made = store.handOff(exchange, named);
  if (typeof made === 'number') return made;
  exchange.handOff = made;
  call.handedOff = true;
  return HANDED_OFF;
}
