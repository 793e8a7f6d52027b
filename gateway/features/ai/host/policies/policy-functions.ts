/** Host functions of the policies for requests to AI providers: one opens a policy in `init`, others apply it. */

import {
  type Binding,
  type Call,
  type CapabilityFunction,
  type Exchange,
  type LogLevel,
  type Own,
  onlyIn,
  openedInInit,
} from '../../../kit.ts';
import { decide, type Rules, settleAnswer } from './decide.ts';
import { readsBody } from './files-rule.ts';

type PolicyFunction<Loaded> = CapabilityFunction<Own<Loaded, object>, Loaded>;
type PolicyLog = (level: LogLevel, message: string, exchange: Exchange | null) => void;

export class PolicyFunctions<Loaded, Policy> {
  /** Name of the function that opens the policy. */
  readonly #opener: string;
  /** Policies by the state of their config. */
  readonly #policies = new WeakMap<object, Policy>();

  constructor(opener: string) {
    this.#opener = opener;
  }

  /** Opens the policy of a config. `make`: throws if the config cannot be used. `body`: the body that the policy reads. */
  open(
    meaning: string,
    make: (binding: Binding, log: PolicyLog, loaded: Loaded) => Policy,
    body: 'request_body' | null = 'request_body',
  ): PolicyFunction<Loaded> {
    return {
      signature: ':i',
      parameters: '() -> 0',
      meaning,
      declared: true,
      ...(body === null ? {} : { body }),
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'init', this.#opener);
          const { binding } = call;
          const log: PolicyLog = (level, message, exchange) =>
            binding.services.log(level, binding.name, message, exchange);
          this.#policies.set(bound(), make(binding, log, loaded));
          if (body !== null) call.bodyNeed = readsBody;
          return 0;
        },
    };
  }

  /** Decides on a request in `on_request`, with its body. */
  decide(
    name: string,
    result: 'refused' | 'answered',
    meaning: string,
    rulesOf: (policy: Policy, call: Call) => Rules,
  ): PolicyFunction<Loaded> {
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
          return decide(call, rulesOf(this.opened(bound(), name), call));
        },
    };
  }

  /** Decides on an answer in `on_response`. */
  settle(
    name: string,
    meaning: string,
    check: (policy: Policy, exchange: Exchange, call: Call) => Parameters<typeof settleAnswer>[2],
  ): PolicyFunction<Loaded> {
    return {
      signature: ':i',
      parameters: '() -> refused',
      meaning,
      waits: true,
      declared: true,
      make:
        (call, { bound }) =>
        () => {
          const policy = this.opened(bound(), name);
          const exchange = call.response();
          return settleAnswer(call, exchange, check(policy, exchange, call));
        },
    };
  }

  /** Throws HostCallError in the function `name` if the policy was not opened. */
  opened(bound: object, name: string): Policy {
    return openedInInit(this.#policies.get(bound) ?? null, name, this.#opener);
  }
}
