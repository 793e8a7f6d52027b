/** Runs the hooks of middlewares: each is timed for the metrics and, if the request is traced, has a span. */
import { type Exchange, headerOf, problemOf } from '../exchange.ts';
import { type Awaitable, after } from '../scheduling/awaitable.ts';
import type { Span } from '../spans/span.ts';
import { ANSWERED, type Outcome } from '../wasm/call/plugin.ts';
import type { LoadedOperation, Step } from './generation.ts';

/** Returns at once if the plugin does not wait. `from`: the present time, in monotonic milliseconds. */
export function runRequestHook(step: Step, exchange: Exchange, from = performance.now()): Awaitable<Outcome> {
  const { name } = step.plugin;
  const span = exchange.trace?.step(`middleware ${name} request`, { 'gw.plugin': name, 'gw.phase': 'request' });
  const decided = step.plugin.onRequest(exchange);
  return after(decided, (outcome) => recordTime(exchange, step.requestTime, from, span, outcome));
}

/** `Exchange.answer` is set if the hook replaces the response. `from`: as for request hooks. */
export function runResponseHook(step: Step, exchange: Exchange, from = performance.now()): Awaitable<Outcome> {
  const { name } = step.plugin;
  const span = exchange.trace?.step(`middleware ${name} response`, { 'gw.plugin': name, 'gw.phase': 'response' });
  const decided = step.plugin.onResponse(exchange);
  return after(decided, (outcome) => recordTime(exchange, step.responseTime, from, span, outcome));
}

/**
 * Refusals that a browser must be able to read, so `cors` headers go on them even if it has not run
 * (docs/decisions.md#cors-on-refusals).
 */
const READABLE_REFUSALS = new Set([400, 401, 403, 429]);

/** Runs the `cors` of an operation for the headers that it stages, unless it is among the `ran` first middlewares. */
export function corsOnRefusal(
  { preflight, middlewares }: LoadedOperation,
  exchange: Exchange,
  ran: number,
): Awaitable<void> {
  if (preflight === null || !READABLE_REFUSALS.has(exchange.response.status)) return;
  if (middlewares.slice(0, ran).includes(preflight)) return;
  if (headerOf(exchange.headers, 'origin') === undefined) return;
  const { answer } = exchange;
  const { decidedBy, decision } = exchange.outcome;
  return after(runRequestHook(preflight, exchange), () => {
    exchange.answer = answer;
    exchange.decided(decidedBy, decision);
  });
}

function recordTime(
  exchange: Exchange,
  time: Step['requestTime'],
  from: number,
  span: Span | undefined,
  outcome: Outcome,
): Outcome {
  time.observe((performance.now() - from) / 1000);
  if (span)
    exchange.trace?.ended(
      span,
      outcome === ANSWERED ? 'answered' : 'continue',
      outcome === ANSWERED ? problemOf(exchange.answer) : null,
    );
  return outcome;
}
