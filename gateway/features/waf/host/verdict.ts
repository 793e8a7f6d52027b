/** The result of an inspection, read from the engine's frame. */
import { VARIABLES } from '../seclang/vocabulary.ts';

const VARIABLE_NAMES = Object.keys(VARIABLES);
const OUTCOMES = ['passes', 'refused', 'would be refused'] as const;
const ANSWERS = ['status', 'drop', 'redirect'] as const;
const LIMITS = [null, 'budget', 'arguments'] as const;

/** What became of a rule, by the engine's numbers. */
export const FATES = [
  'not reached',
  'ran',
  'matched',
  'nothing to find',
  'jumped over',
  'excluded by the config',
  'removed by a rule',
] as const;
export type Fate = (typeof FATES)[number];

interface MatchedValue {
  /** Variable and key, such as `ARGS_GET:q`. */
  readonly variable: string;
  /** Its begin; empty unless it was asked for. */
  readonly value: string;
}

export interface RuleMatch {
  /** Index of the rule in the rule set. */
  readonly rule: number;
  readonly id: number;
  readonly isLogged: boolean;
  readonly message: string;
  /** The first ones. */
  readonly values: readonly MatchedValue[];
}

export interface Verdict {
  /** `would be refused`: a rule refuses, and the mode does not. */
  readonly outcome: (typeof OUTCOMES)[number];
  readonly answer: (typeof ANSWERS)[number];
  /** Status to refuse with; 0 if no rule refuses. */
  readonly status: number;
  /** Id of the rule that refuses; 0 for none. */
  readonly rule: number;
  /** Why the inspection did not come to its end; null if it did. */
  readonly limit: (typeof LIMITS)[number];
  /** Id of the rule that ran when the budget was spent. */
  readonly limitRule: number;
  readonly units: number;
  readonly inbound: number;
  readonly outbound: number;
  /** Where to, if the answer is `redirect`. */
  readonly location: string;
  /** Matches of rules that are logged, in their order; all matches if they were asked for. */
  readonly matches: readonly RuleMatch[];
  /** By index of the rule; empty unless it was asked for. */
  readonly fates: readonly Fate[];
  /** Values that the document proves, such as `ARGS_GET:page`; empty unless they were asked for. */
  readonly proved: readonly string[];
}

/** Throws RangeError if the frame is not the engine's. */
export function readVerdict(bytes: Buffer): Verdict {
  let at = 0;
  const number = () => {
    const value = bytes.readUInt32LE(at);
    at += 4;
    return value;
  };
  const bytesOf = () => {
    const length = number();
    at += length;
    return bytes.subarray(at - length, at);
  };
  const text = () => bytesOf().toString('utf8');
  const variable = () => {
    const [name = '', key] = [VARIABLE_NAMES[number()], text()];
    return key === '' ? name : `${name}:${key}`;
  };
  const list = <T>(read: () => T): readonly T[] => {
    const members: T[] = [];
    for (let left = number(); left > 0; left--) members.push(read());
    return members;
  };
  return {
    outcome: OUTCOMES[number()] ?? 'passes',
    answer: ANSWERS[number()] ?? 'status',
    ...{ status: number(), rule: number() },
    limit: LIMITS[number()] ?? null,
    ...{ limitRule: number(), units: number(), inbound: number(), outbound: number() },
    location: text(),
    matches: list(() => ({
      ...{ rule: number(), id: number() },
      isLogged: (number() & 1) === 1,
      message: text(),
      values: list(() => ({ variable: variable(), value: text() })),
    })),
    fates: Array.from(bytesOf(), (number) => FATES[number] ?? 'ran'),
    proved: list(variable),
  };
}
