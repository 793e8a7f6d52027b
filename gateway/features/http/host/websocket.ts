/** `host_websocket_upgrade`: the host relays a WebSocket, and the instance is free. */

import { capability, HostCallError, refusalOf } from '../../kit.ts';
import { targetOf } from './http-stream.ts';

const ANSWERED = 1;
const HANDED_OFF = 2;

export const webSocket = capability({
  functions: {
    host_websocket_upgrade: {
      signature: 'iiiiiii:i',
      parameters: '(upstream, len, path, len, connect_timeout_ms, idle_timeout_ms, max_message_bytes) -> outcome',
      meaning:
        'hands the handshake of a WebSocket off: the host makes it with the upstream (`upstream` and `path` as for `host_http_stream`) and relays frames from then on. `dispatch` returns the result: 2, or 1 if the request is not a valid handshake, which the host has answered (400, 426). `idle_timeout_ms` 0: no limit',
      declared: true,
      relays: true,
      make:
        (call) => (upstream, upstreamLength, path, pathLength, connectTimeoutMs, idleTimeoutMs, maxMessageBytes) => {
          const target = targetOf(call, 'host_websocket_upgrade', { upstream, upstreamLength, path, pathLength });
          if (connectTimeoutMs < 1 || idleTimeoutMs < 0 || maxMessageBytes < 1) {
            throw new HostCallError('host_websocket_upgrade: a time-out or the size of messages is below its least');
          }
          const exchange = call.request();
          const refusal = refusalOf(exchange);
          if (refusal !== null) {
            exchange.answer = { problem: refusal };
            call.responded = true;
            return ANSWERED;
          }
          exchange.handOff = { ...target, timeoutMs: connectTimeoutMs, webSocket: { idleTimeoutMs, maxMessageBytes } };
          call.handedOff = true;
          return HANDED_OFF;
        },
    },
  },
});
