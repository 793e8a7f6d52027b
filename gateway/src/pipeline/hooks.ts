/** Runs the hooks of middlewares: each is timed for the metrics and, if the request is traced, has a span. */
import { type Exchange, headerOf, problemOf } from '../exchange.ts';
import type { Span } from '../spans/span.ts';
import { ANSWERED, type Outcome } from '../wasm/call/plugin.ts';
import type { LoadedOperation, Step } from './generation.ts';

/** Returns at once if the plugin does not wait. */
export function runRequestHook(step: Step, x: Exchange): Outcome | Promise<Outcome> {
  const { name } = step.plugin;
  const span = x.trace?.step(`middleware ${name} request`, { 'gw.plugin': name, 'gw.phase': 'request' });
  const from = performance.now();
  const decided = step.plugin.onRequest(x);
  if (typeof decided !== 'number') return decided.then((outcome) => timed(x, step.requestTime, from, span, outcome));
  return timed(x, step.requestTime, from, span, decided);
}

/** `Exchange.answer` is set if the hook replaces the response. */
export async function runResponseHook(step: Step, x: Exchange): Promise<Outcome> {
  const { name } = step.plugin;
  const span = x.trace?.step(`middleware ${name} response`, { 'gw.plugin': name, 'gw.phase': 'response' });
  const from = performance.now();
  return timed(x, step.responseTime, from, span, await step.plugin.onResponse(x));
}

/**
 * Refusals that a browser must be able to read, so `cors` headers go on them even if it has not run
 * (docs/decisions.md#cors-on-refusals).
 */
const READABLE_REFUSALS = new Set([400, 401, 403, 429]);

/** Runs the `cors` of an operation for the headers that it stages, unless it is among the `ran` first middlewares. */
export async function corsOnRefusal(
  { preflight, middlewares }: LoadedOperation,
  x: Exchange,
  ran: number,
): Promise<void> {
  if (preflight === null || !READABLE_REFUSALS.has(x.responseStatus)) return;
  if (middlewares.slice(0, ran).includes(preflight)) return;
  if (headerOf(x.headers, 'origin') === undefined) return;
  const { answer, decidedBy, decision } = x;
  await runRequestHook(preflight, x);
  x.answer = answer;
  x.decided(decidedBy, decision);
}

function timed(
  x: Exchange,
  time: Step['requestTime'],
  from: number,
  span: Span | undefined,
  outcome: Outcome,
): Outcome {
  time.observe((performance.now() - from) / 1000);
  if (span)
    x.trace?.ended(
      span,
      outcome === ANSWERED ? 'answered' : 'continue',
      outcome === ANSWERED ? problemOf(x.answer) : null,
    );
  return outcome;
}
