/** A request that has become a WebSocket: its relay, and its line in the access log. */

import { RequestSlot } from '../capability/request-slot.ts';
import type { CloseStatus } from '../close-status.ts';
import { type AcceptedWebSocket, type Exchange, joinedHeader, type RequestPart } from '../exchange.ts';
import type { BufferBudget, Holding } from '../memory/buffer-budget.ts';
import type { ProblemError } from '../problems.ts';
import type { EventLoopWatch } from '../telemetry/event-loop.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { Asker } from '../validation/helpers/validation-helpers.ts';
import { type MessageRules, NOT_UTF8 } from '../validation/messages.ts';
import { closeReason } from '../websocket/close-frame.ts';
import { compresses } from '../websocket/extensions.ts';
import { acceptClient, EXTENSIONS } from '../websocket/handshake.ts';
import { MessageGate } from '../websocket/message-gate.ts';
import { Relay, type RelayEnd, STOPPING } from '../websocket/relay.ts';
import type { LoadedOperation } from './generation.ts';

const slot = new RequestSlot<ClosedWebSocket>();

/** How it ended, for the access log. */
class ClosedWebSocket implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #end: RelayEnd;

  constructor(end: RelayEnd) {
    this.#end = end;
  }

  get logged(): string {
    const { by, code, reason } = this.#end;
    const why = reason === '' ? '' : `,"close_reason":${JSON.stringify(reason)}`;
    return `,"closed_by":"${by}","close_code":${code}${why}`;
  }

  finished(): void {}
}

export interface WebSocketDeps {
  readonly op: LoadedOperation;
  readonly recorder: Recorder;
  readonly loop: EventLoopWatch;
  /** Budget of messages that are held until they are whole. */
  readonly budget: BufferBudget;
}

/**
 * Accepts the client's handshake with the response headers at hand, and relays until both connections have ended; then
 * calls back with the number of bytes sent to the client. Returns false if the client has gone.
 */
export function relayWebSocket(
  exchange: Exchange,
  accepted: AcceptedWebSocket,
  deps: WebSocketDeps,
  ended: (sent: number) => void,
): boolean {
  const { connection: upstream, limits } = accepted;
  const deflate = compresses(joinedHeader(exchange.response.headers, EXTENSIONS));
  acceptClient(exchange, exchange.response.headers);
  let relay: Relay | null = null;
  const client = exchange.responder.upgrade?.(exchange, exchange.response.headers, () => relay?.close(STOPPING));
  if (!client) {
    upstream.destroy();
    return false;
  }
  relay = new Relay({
    client,
    upstream,
    deflate,
    ...limits,
    maxHeldMessageBytes: deps.op.messages?.limit ?? 0,
    gates: gatesOf(exchange, deps, (closing) => relay?.close(closing)),
    figures: deps.recorder.metrics.webSockets,
    read: accepted.read?.bind(accepted),
    ended: (end) => {
      exchange.receivedUpgraded = end.received;
      slot.set(exchange, new ClosedWebSocket(end));
      ended(end.sent);
    },
  });
  accepted.opened?.((closing) => relay?.close(closing));
  return true;
}

/** If an operation describes its messages, they are held until they are whole, and checked. */
function gatesOf(
  exchange: Exchange,
  { op, recorder, loop, budget }: WebSocketDeps,
  close: (closing: CloseStatus) => void,
) {
  const { received = null, sent = null, enforces = false } = op.messages ?? {};
  const hold = holdFor(exchange, budget);
  const refuse = (errors: readonly ProblemError[] | null) => {
    if (errors !== null) recorder.validationFailed(op.metrics, 'message');
    return closeStatusOf(errors);
  };
  const report = (errors: readonly ProblemError[] | null) => {
    if (errors !== null) recorder.responseInvalid(exchange, { status: 101, errors, withheld: enforces });
    return enforces ? closeStatusOf(errors) : null;
  };
  const asker: Asker = {
    clientIp: exchange.clientIp,
    authenticated: op.middlewares.some(({ plugin: { plugin } }) => plugin.authenticates === true),
    wanted: () => !exchange.closed,
  };
  const gate = (rules: MessageRules, then: (errors: readonly ProblemError[] | null) => CloseStatus | null) => {
    const check = (message: Buffer) => {
      loop.enters(exchange, 'message');
      const errors = rules.errors(message, asker);
      return errors instanceof Promise ? errors.then(then) : then(errors);
    };
    return new MessageGate({ check, hold, cutOff: close });
  };
  return { client: received && gate(received, refuse), upstream: sent && gate(sent, report) };
}

/** Holds messages: the client that holds most yields the slowest of those that come in pieces. */
function holdFor({ clientIp }: Exchange, budget: BufferBudget) {
  return (cutOff: () => void): Holding => {
    const since = performance.now();
    const holding = budget.hold(clientIp);
    holding.evictable = { rate: (now) => holding.bytes / Math.max(1, now - since), evict: cutOff };
    return holding;
  };
}

/** 1007: the content does not match its frames (RFC 6455, section 7.4.1); 1008: it does not match the description. */
function closeStatusOf(errors: readonly ProblemError[] | null): CloseStatus | null {
  const [first] = errors ?? [];
  if (first === undefined) return null;
  const where = first.field === '/' ? 'the message' : `the message at ${first.field}`;
  return { code: first === NOT_UTF8 ? 1007 : 1008, reason: closeReason(`${where}: ${first.reason}`) };
}

export const NO_WEB_SOCKET = 'This operation does not speak WebSocket.';

/**
 * Reports whether a plain answer would open a WebSocket: any success does to an extended CONNECT (RFC 8441, section
 * 5.1), and the client would read its body as frames.
 */
export function wouldOpen({ upgrade }: Exchange, status: number): boolean {
  return upgrade !== null && !upgrade.keyed && status < 300;
}
