/** The request's body in memory, for plugins that declare `request_body = "buffer"`. */
import { hash } from 'node:crypto';
import { Interrupted } from '../../exchange.ts';
import type { BodyNeed, Call } from '../call/call.ts';
import { HostCallError } from '../call/host-call-error.ts';
import type { HostFunctions } from '../call/host-function.ts';

/**
 * Slow senders have limits of their own (`--body-timeout`, `--min-body-rate`, `--body-deadline`); this one is not
 * shorter.
 */
const BODY_DEADLINE_MS = 86_400_000;

/** Digests by their numbers in sdk/ABI.md. */
const DIGESTS = ['sha256', 'sha512'] as const;
const NEEDS: readonly (BodyNeed | undefined)[] = ['any', 'json'];
const NOTHING = new Uint8Array(0);

export const requestBodyFunctions: HostFunctions = {
  request_body_limit: {
    signature: 'i:i',
    make: (call) => (bytes) => {
      const exchange = call.request();
      if (call.hook !== 'on_request') throw new HostCallError(`request_body_limit is for on_request, not ${call.hook}`);
      if (exchange.body !== null) return exchange.body.length;
      exchange.bodyStream?.limitTo(bytes >>> 0);
      return -1;
    },
  },
  request_body_need: {
    signature: 'i:',
    body: 'request_body',
    make: (call) => (kind) => {
      if (call.hook !== 'init') throw new HostCallError(`request_body_need is for init, not ${call.hook}`);
      const need = NEEDS[kind];
      if (need === undefined) throw new HostCallError(`request_body_need: there is no kind ${kind}`);
      call.bodyNeed = need;
    },
  },
  request_body_length: {
    signature: ':i',
    waits: true,
    body: 'request_body',
    make: (call) => () => withBody(call, (body) => body?.length ?? 0),
  },
  request_body_read: {
    signature: 'iii:i',
    body: 'request_body',
    make: (call) => (offset, buf, cap) => {
      const exchange = call.request();
      if (exchange.body === null && exchange.bodyStream !== null) {
        throw new HostCallError('request_body_read before request_body_length');
      }
      if (exchange.refusesJson(false)) throw new Interrupted('the body has a member twice');
      call.charge(cap);
      return exchange.body === null ? 0 : call.memory.writeFrom(exchange.body, offset, buf, cap);
    },
  },
  request_body_digest: {
    signature: 'ii:i',
    waits: true,
    body: 'request_body',
    make: (call) => (algorithm, out) => {
      const name = DIGESTS[algorithm];
      if (name === undefined) throw new HostCallError(`request_body_digest: there is no algorithm ${algorithm}`);
      return withBody(call, (body) => {
        call.charge(body?.length ?? 0);
        const digest = hash(name, body ?? NOTHING, 'buffer');
        return call.memory.writeFrom(digest, 0, out, digest.length);
      });
    },
  },
  request_body_set: {
    signature: 'ii:',
    body: 'request_body',
    make: (call) => (pointer, length) => {
      call.charge(length);
      const exchange = call.request();
      call.holdMore((length >>> 0) - (exchange.body?.length ?? 0));
      exchange.body = call.memory.copy(pointer, length);
    },
  },
};

/** Reads the body unless that is done; `result` gets null for requests without one. */
export function withBody(call: Call, result: (body: Uint8Array | null) => number): number | Promise<number> {
  const exchange = call.request();
  if (exchange.body !== null) return result(exchange.body);
  // Even without a body, reading validates: the operation may require one.
  return call.wait(exchange.readBody(), BODY_DEADLINE_MS, (body) => {
    if (exchange.bodyStream !== null) exchange.body ??= body;
    return result(exchange.body);
  });
}
