/** Host functions of the policies for requests to AI providers: one opens a policy in `init`, others apply it. */

import {
  type Binding,
  type Call,
  type CapabilityFunction,
  type Exchange,
  type InitSlot,
  type LogLevel,
  OPENER,
  type Own,
  onlyIn,
} from '../../../kit.ts';
import { type AnswerCheck, decide, type Rules, settleAnswer } from './decide.ts';
import { readsBody } from './files-rule.ts';

type PolicyFunction<Loaded, Bound> = CapabilityFunction<Own<Loaded, Bound>, Loaded>;
type PolicyLog = (level: LogLevel, message: string, exchange: Exchange | null) => void;

/**
 * Makes the host functions of one family of policies. `Loaded` and `Bound` are the states of its capability for an
 * artifact and for a config; `Policy` is what a config opens.
 */
export class PolicyFunctions<Loaded, Bound, Policy> {
  readonly #slotOf: (bound: Bound) => InitSlot<Policy>;

  /** `slotOf`: returns the place of the policy in the state for a config. */
  constructor(slotOf: (bound: Bound) => InitSlot<Policy>) {
    this.#slotOf = slotOf;
  }

  /** Opens the policy of a config. `openPolicy` throws if the config cannot be used. `body`: the body that it reads. */
  open(
    meaning: string,
    openPolicy: (binding: Binding, log: PolicyLog, loaded: Loaded) => Policy,
    body: 'request_body' | null = 'request_body',
  ): PolicyFunction<Loaded, Bound> {
    return {
      ...OPENER,
      meaning,
      ...(body === null ? {} : { body }),
      make:
        (call, { loaded, bound }) =>
        () => {
          if (body !== null) call.bodyNeed = readsBody;
          return this.#slotOf(bound()).open(call, (binding) => {
            const { services, name } = binding;
            return openPolicy(
              binding,
              (level, message, exchange) => services.log(level, name, message, exchange),
              loaded,
            );
          });
        },
    };
  }

  /** Decides on a request in `on_request`, with its body. `name`: of the function, for errors. */
  decide(
    name: string,
    result: 'refused' | 'answered',
    meaning: string,
    rulesOf: (policy: Policy, call: Call) => Rules,
  ): PolicyFunction<Loaded, Bound> {
    return {
      signature: ':i',
      parameters: `() -> ${result}`,
      meaning,
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { bound }) =>
        () => {
          onlyIn(call, 'on_request', name);
          return decide(call, rulesOf(this.#slotOf(bound()).get(name), call));
        },
    };
  }

  /** Decides on an answer in `on_response`, outside which `answeredRequest` throws. `name`: of the function. */
  settle(
    name: string,
    meaning: string,
    check: (policy: Policy, exchange: Exchange, call: Call) => AnswerCheck,
  ): PolicyFunction<Loaded, Bound> {
    return {
      signature: ':i',
      parameters: '() -> refused',
      meaning,
      waits: true,
      declared: true,
      make:
        (call, { bound }) =>
        () => {
          const policy = this.#slotOf(bound()).get(name);
          const exchange = call.answeredRequest();
          return settleAnswer(call, exchange, check(policy, exchange, call));
        },
    };
  }
}
