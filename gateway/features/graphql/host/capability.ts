/** `host_graphql_open` and `host_graphql_check`: requests of GraphQL over HTTP, within the limits of a config. */

import {
  type Call,
  type CallState,
  capability,
  HostCallError,
  InitSlot,
  OPENER,
  onlyIn,
  SharedMap,
  withBody,
} from '../../kit.ts';
import type { GraphQLChecker, Verdict, Verdicts } from './graphql-checker.ts';
import { type Refusal, Refused } from './refusal.ts';

/** Bytes that verdicts on documents take in a process; those used longest ago are dropped. */
const MOST_BYTES = 16 << 20;
/** Milliseconds for loading the parser, once, and reading the persisted documents. */
const DEADLINE_MS = 60_000;
/** Instructions charged per character of a document on its first read. */
const CHARACTER = 50;
/** Instructions that finding a known document is charged as. */
const LOOKUP = 5_000;

const PASSES = 0;

/** Loaded on demand: most gateways run without. */
const parser = () => import('./graphql-checker.ts');

/** The reason for which the last request of the call was refused. */
class LastRefusal implements CallState {
  refusal: Refusal | null = null;

  end(): void {
    this.refusal = null;
  }
}

/** Parts by their numbers in sdk/ABI.md. */
const PARTS: readonly ((refusal: Refusal) => string)[] = [({ code }) => code, ({ detail }) => detail];

export const graphql = capability({
  open: (): Verdicts => new SharedMap<Verdict>({ most: MOST_BYTES }),
  bind: () => new InitSlot<GraphQLChecker>('host_graphql_open'),
  call: () => new LastRefusal(),
  functions: {
    host_graphql_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the limits and documents that the whole config describes, with the properties of `graphql`; unusable ones reject the config',
      waits: true,
      body: 'request_body',
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'init', 'host_graphql_open');
          const { whole } = call.binding.config;
          const opening = parser().then(({ GraphQLChecker }) => new GraphQLChecker(whole, loaded));
          return call.wait(opening, DEADLINE_MS, (checker) => {
            call.bodyNeed = 'any';
            return bound().open(call, () => checker);
          });
        },
    },
    host_graphql_check: {
      signature: ':i',
      parameters: '() -> status',
      meaning:
        '0: the request is one of GraphQL over HTTP and within the limits; a persisted document that it names stands in it now. Else the status to refuse it with, and `graphql_refusal_get` says why',
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { bound, state }) =>
        () => {
          const checker = bound().get('host_graphql_check');
          return withBody(call, (body) => {
            call.charge(body?.length ?? 0);
            call.burn(LOOKUP);
            return check(call, checker, state);
          });
        },
    },
    graphql_refusal_get: {
      signature: 'iii:i',
      parameters: '(part, buf, cap) -> len',
      meaning: 'why the last request was refused: a code for programs (part 0), a text for the client (part 1)',
      make:
        (call, { state }) =>
        (part, buf, cap) => {
          const read = PARTS[part];
          if (state.refusal === null || read === undefined)
            throw new HostCallError('graphql_refusal_get: the last request was not refused, or the part is not 0 or 1');
          return call.memory.writeText(read(state.refusal), buf, cap);
        },
    },
  },
});

function check(call: Call, checker: GraphQLChecker, state: LastRefusal): number {
  state.refusal = null;
  try {
    checker.check(call.request(), (characters) => call.burn(characters * CHARACTER));
    return PASSES;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    state.refusal = error.refusal;
    return error.refusal.status;
  }
}
