/** `host_cel_compile` and `host_cel_evaluate`: conditions on requests in the Common Expression Language. */

import { Interrupted } from '../../exchange.ts';
import { messageOf } from '../../message-of.ts';
import type { Call } from '../../wasm/call.ts';
import type { ConfigView } from '../../wasm/config-view.ts';
import { HostCallError } from '../../wasm/failures.ts';
import type { HostFunctions } from '../../wasm/host/host-function.ts';
import { withBody } from '../../wasm/host/request-body.ts';
import type { Condition } from './expression.ts';

/** Expressions of one config. */
const MOST_CONDITIONS = 256;
/** What compiling may wait for: the library, once. */
const DEADLINE_MS = 60_000;
/** Instructions that a step of an evaluation is charged as. */
const STEP = 200;

const MATCHES = 1;
const NOT = 0;
const FAILED = -1;

/** Conditions by the config that they were compiled for: a handle is the place in the list. */
const compiled = new WeakMap<ConfigView, Condition[]>();

/** Loaded where a plugin asks for it: it takes time, and most gateways run without. */
const language = () => Promise.all([import('./expression.ts'), import('./request-view.ts')]);
let loaded: Awaited<ReturnType<typeof language>> | null = null;

export const celFunctions: HostFunctions = {
  host_cel_compile: {
    signature: 'ii:i',
    waits: true,
    declared: true,
    make: (call) => (text, length) => {
      if (call.hook !== 'init') throw new HostCallError(`host_cel_compile is for init, not ${call.hook}`);
      const expression = call.memory.text(text, length);
      if (loaded) return compile(call, expression);
      return call.wait(language(), DEADLINE_MS, (modules) => {
        loaded = modules;
        return compile(call, expression);
      });
    },
  },
  host_cel_evaluate: {
    signature: 'i:i',
    waits: true,
    declared: true,
    body: 'request_body',
    make: (call) => (handle) => {
      const condition = compiled.get(call.binding.config)?.[handle];
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
};

function compile(call: Call, text: string): number {
  if (!loaded) throw new HostCallError('host_cel_compile: the language is not loaded');
  const conditions = compiled.get(call.binding.config) ?? [];
  compiled.set(call.binding.config, conditions);
  if (conditions.length >= MOST_CONDITIONS) throw new HostCallError(`more than ${MOST_CONDITIONS} expressions`);
  try {
    const condition = loaded[0].compileCondition(text);
    if (condition.parts.has('body_json')) call.bodyNeed = 'any';
    return conditions.push(condition) - 1;
  } catch (error) {
    call.refusal = `the expression is not right: ${messageOf(error)}`;
    return FAILED;
  }
}

function evaluate(call: Call, condition: Condition): number {
  if (!loaded) throw new HostCallError('host_cel_evaluate: the language is not loaded');
  const x = call.request();
  const { matches, error, steps } = condition.evaluate(loaded[1].requestValue(x));
  call.burn(steps * STEP);
  if (matches !== null) return matches ? MATCHES : NOT;
  const { services, name } = call.binding;
  services.log('warn', name, `the expression could not be evaluated: ${error}`, x);
  return FAILED;
}
