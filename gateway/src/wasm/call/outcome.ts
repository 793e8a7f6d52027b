/** Outcomes of a request when a call into a plugin has ended, well or not. */

import { CLIENT_CLOSED, changeHeader, type HeaderList, Interrupted } from '../../exchange.ts';
import { problem } from '../../problems.ts';
import { messageOf } from '../../text/message-of.ts';
import type { Call } from './call.ts';
import { CpuExceeded, Overloaded, WaitExceeded } from './failures.ts';
import { HostCallError } from './host-call-error.ts';
import { ANSWERED, CONTINUE, HANDED_OFF, type Outcome } from './plugin.ts';

/** Returns the outcome of a hook that returned `result`. Throws if result and host calls contradict each other. */
export function outcomeOf(call: Call, result: number): Outcome {
  const { hook, responded, handedOff } = call;
  const exchange = call.request();
  if (hook === 'dispatch') {
    if (result === 1 && responded && !handedOff) {
      exchange.decided(call.binding.name);
      return ANSWERED;
    }
    if (result === 2 && handedOff && !responded) return HANDED_OFF;
  } else {
    if (result === 0 && !responded) return CONTINUE;
    if (result === 1 && responded) {
      if (hook === 'on_response' && call.changes) addHeaders(call, exchange.answer);
      exchange.decided(call.binding.name);
      return ANSWERED;
    }
  }
  const did = [responded && 'answered', handedOff && 'handed off'].filter(Boolean).join(' and ') || 'not answered';
  throw new HostCallError(`${hook} returned ${result} but has ${did}`);
}

/** Gives a replacement response the headers that were set in the same call, and none of the old ones. */
function addHeaders(call: Call, answer: NonNullable<Call['exchange']>['answer']): void {
  if (answer === null) return;
  const headers: HeaderList = [];
  for (const { op, name, value } of call.changes ?? []) changeHeader(headers, op, name, value);
  call.request().answer = 'problem' in answer ? { problem: { ...answer.problem, headers } } : { ...answer, headers };
}

/** Answers for a call that failed, and logs why. */
export function failed(call: Call, error: unknown): void {
  const exchange = call.request();
  if (error instanceof Interrupted) {
    exchange.answer ??= { status: CLIENT_CLOSED, body: null };
    return;
  }
  exchange.handOff = null;
  exchange.engine?.close?.();
  exchange.engine = null;
  if (error instanceof Overloaded) {
    const { services, name } = call.binding;
    exchange.decided(name, 'overloaded');
    services.log('warn', name, `${call.hook} was ended: ${error.message}`, exchange);
    exchange.answer = { problem: problem('overloaded') };
    return;
  }
  exchange.decided(call.binding.name, 'failed');
  logFailure(call, error);
  exchange.answer = { problem: problem(ownFault(error) ? 'plugin-failed' : 'internal-error') };
}

/** Logs the failure in one line. */
export function logFailure(call: Call, error: unknown): void {
  const { services, name } = call.binding;
  services.log('error', name, `${call.hook} failed: ${reasonOf(error)}`, call.exchange);
}

/** Returns the reason in one line. */
export function reasonOf(error: unknown): string {
  if (error instanceof WebAssembly.RuntimeError) return `trapped: ${error.message}`;
  if (error instanceof RangeError) return `trapped: ${error.message}: does it recurse without end?`;
  return messageOf(error);
}

/** Reports whether the plugin failed, and not the host under it. */
function ownFault(error: unknown): boolean {
  return (
    error instanceof WebAssembly.RuntimeError ||
    error instanceof RangeError ||
    error instanceof CpuExceeded ||
    error instanceof HostCallError ||
    error instanceof WaitExceeded
  );
}
