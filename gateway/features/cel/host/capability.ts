/** `host_cel_compile` and `host_cel_evaluate`: conditions on requests in the Common Expression Language. */

import { type Call, capability, HostCallError, Interrupted, messageOf, withBody } from '../../kit.ts';
import type { Condition } from './expression.ts';

/** Expressions of one config. */
const MOST_CONDITIONS = 256;
/** Milliseconds for compiling, which loads the library once. */
const DEADLINE_MS = 60_000;
/** Instructions that a step of an evaluation is charged as. */
const STEP = 200;

const MATCHES = 1;
const NOT = 0;
const FAILED = -1;
const UNREADABLE = -2;

/** Loaded on demand: it takes time, and most gateways run without. */
const language = () => Promise.all([import('./expression.ts'), import('./request-view.ts')]);
let loaded: Awaited<ReturnType<typeof language>> | null = null;

export const cel = capability({
  /** Conditions that `init` has compiled: a handle is the place in the list. */
  bind: (): Condition[] => [],
  functions: {
    host_cel_compile: {
      signature: 'ii:i',
      parameters: '(text, len) -> handle',
      meaning:
        'in `init`: a condition in the Common Expression Language, as in `cel`; -1 if it is invalid: then return anything but 0, and the host reports the reason',
      waits: true,
      declared: true,
      make:
        (call, { bound }) =>
        (text, length) => {
          if (call.hook !== 'init') throw new HostCallError(`host_cel_compile is for init, not ${call.hook}`);
          const expression = call.memory.text(text, length);
          if (loaded) return compile(call, bound(), expression);
          return call.wait(language(), DEADLINE_MS, (modules) => {
            loaded = modules;
            return compile(call, bound(), expression);
          });
        },
    },
    host_cel_evaluate: {
      signature: 'i:i',
      parameters: '(handle) -> result',
      meaning:
        '1: the condition is true for this request, 0: it is not, -1: it could not be evaluated, -2: it could not be because a part of the request is there and cannot be read, or makes it too long; the log says why. Needs `request_body = "buffer"`; waits for the body if the condition reads it',
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { bound }) =>
        (handle) => {
          const condition = bound()[handle];
          if (condition === undefined) throw new HostCallError(`host_cel_evaluate: there is no expression ${handle}`);
          call.request();
          if (!condition.parts.has('body_json')) return evaluate(call, condition);
          return withBody(call, (body) => {
            call.charge(body?.length ?? 0);
            if (call.request().refusesJson(true)) throw new Interrupted('the body has a member twice');
            return evaluate(call, condition);
          });
        },
    },
  },
});

function compile(call: Call, conditions: Condition[], text: string): number {
  if (!loaded) throw new HostCallError('host_cel_compile: the language is not loaded');
  if (conditions.length >= MOST_CONDITIONS) throw new HostCallError(`more than ${MOST_CONDITIONS} expressions`);
  try {
    const condition = loaded[0].compileCondition(text);
    if (condition.parts.has('body_json')) call.bodyNeed = 'any';
    return conditions.push(condition) - 1;
  } catch (error) {
    call.refusal = `the expression is not valid: ${messageOf(error)}`;
    return FAILED;
  }
}

function evaluate(call: Call, condition: Condition): number {
  if (!loaded) throw new HostCallError('host_cel_evaluate: the language is not loaded');
  const exchange = call.request();
  const request = loaded[1].requestValue(exchange);
  const { matches, error, steps, isTooLong } = condition.evaluate(request.value);
  call.burn(steps * STEP);
  if (matches !== null) return matches ? MATCHES : NOT;
  const { services, name } = call.binding;
  services.log('warn', name, `the expression could not be evaluated: ${error}`, exchange);
  // An overlong value comes from the client.
  return request.isUnreadable || isTooLong ? UNREADABLE : FAILED;
}
