/** Counts over the lines of an access log: what `waf` found, by operation, rule and variable, within a bound of memory. */
import { isEvaluation } from '../../../features/waf/host/waf-metrics.ts';
import type { AuditLine, AuditMatch, Outcome } from './audit-line.ts';

/** Most rows of the report, each a variable of a rule of an operation: a client chooses names of parameters. */
const MOST_ROWS = 10_000;
/** Most variables of a rule of an operation. */
const MOST_VARIABLES = 100;
/** Networks that are told apart in each row. */
export const MOST_NETWORKS = 100;
/** Requests that are named of each operation. */
const MOST_EXAMPLES = 3;

/** Variables whose values come out of other variables. */
const DERIVED = /^(?:TX|RULE|MATCHED_VARS?(?:_NAMES?)?)(?::|$)/;

/** Requests with something, and the networks that they came from. */
export class Tally {
  requests = 0;
  /** Requests that were refused, or would be in mode `block`. */
  refused = 0;
  readonly #networks = new Set<string>();

  add({ outcome, network }: AuditLine): void {
    this.requests++;
    if (isRefused(outcome)) this.refused++;
    if (this.#networks.size < MOST_NETWORKS) this.#networks.add(network);
  }

  /** At most `MOST_NETWORKS`. */
  get networks(): number {
    return this.#networks.size;
  }
}

export interface RuleCounts {
  readonly id: number;
  readonly msg: string;
  readonly tally: Tally;
  readonly variables: ReadonlyMap<string, Tally>;
}

export interface OperationCounts {
  readonly method: string;
  readonly route: string;
  readonly api: string;
  readonly tally: Tally;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly rules: ReadonlyMap<number, RuleCounts>;
  /** The first requests that were refused, or would be. */
  readonly examples: readonly AuditLine[];
}

interface OpenRule extends RuleCounts {
  readonly variables: Map<string, Tally>;
}

interface OpenOperation extends OperationCounts {
  readonly outcomes: Record<Outcome, number>;
  readonly rules: Map<number, OpenRule>;
  readonly examples: AuditLine[];
}

export class AuditCounts {
  readonly #operations = new Map<string, OpenOperation>();
  #rows = 0;
  #leftOut = 0;
  #first = '';
  #last = '';

  get operations(): Iterable<OperationCounts> {
    return this.#operations.values();
  }

  /** Matches beyond the bound of memory, in no row. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Times of the first and the last request, in ISO 8601; empty without requests. */
  get period(): { readonly from: string; readonly to: string } {
    return { from: this.#first, to: this.#last };
  }

  add(line: AuditLine): void {
    if (this.#first === '' || line.time < this.#first) this.#first = line.time;
    if (line.time > this.#last) this.#last = line.time;
    const operation = this.#operation(line);
    if (operation === null) return;
    operation.tally.add(line);
    operation.outcomes[line.outcome]++;
    if (isRefused(line.outcome) && operation.examples.length < MOST_EXAMPLES) operation.examples.push(line);
    for (const [id, matches] of Map.groupBy(line.matches.filter(isFinding), (match) => match.id)) {
      const rule = operation.rules.get(id) ?? {
        id,
        msg: matches[0]?.msg ?? '',
        tally: new Tally(),
        variables: new Map(),
      };
      operation.rules.set(id, rule);
      rule.tally.add(line);
      for (const variable of variablesOf(matches)) this.#count(rule, variable, line);
    }
  }

  #operation({ method, route, api, matches }: AuditLine): OpenOperation | null {
    const key = `${method} ${route}`;
    const known = this.#operations.get(key);
    if (known !== undefined) return known;
    if (!this.#hasRoom(matches.length)) return null;
    const outcomes = { denied: 0, 'would-deny': 0, limit: 0, matched: 0, passed: 0 };
    const added = { method, route, api, tally: new Tally(), outcomes, rules: new Map(), examples: [] };
    this.#operations.set(key, added);
    return added;
  }

  #count({ variables }: OpenRule, variable: string, line: AuditLine): void {
    const known = variables.get(variable);
    const tally = known ?? new Tally();
    if (known === undefined) {
      if (variables.size >= MOST_VARIABLES || !this.#hasRoom(1)) return;
      variables.set(variable, tally);
    }
    tally.add(line);
  }

  /** Takes a row, unless there are too many. */
  #hasRoom(lost: number): boolean {
    if (this.#rows < MOST_ROWS) {
      this.#rows++;
      return true;
    }
    this.#leftOut += lost;
    return false;
  }
}

function isRefused(outcome: Outcome): boolean {
  return outcome === 'denied' || outcome === 'would-deny';
}

export function isFinding({ tags }: AuditMatch): boolean {
  return !isEvaluation(tags);
}

/** Returns the variables of one rule's matches: those that other variables lead to only if there are no others. */
function variablesOf(matches: readonly AuditMatch[]): ReadonlySet<string> {
  const all = matches.map(({ variable }) => variable);
  const sources = all.filter((variable) => !DERIVED.test(variable));
  return new Set(sources.length > 0 ? sources : all.slice(0, 1));
}
