/** The report of `gw waf report`, as its JSON has it. */
import { type AuditCounts, isFinding, type OperationCounts, type RuleCounts, type Tally } from './audit-counts.ts';
import type { AuditLine } from './audit-line.ts';
import { type Exclusion, exclusionOf, mergedExclusions } from './exclusions.ts';

interface Counted {
  readonly requests: number;
  /** Requests that were refused, or would be in mode `block`. */
  readonly refused: number;
  /** Networks of clients; 100 stands for more, too. */
  readonly networks: number;
}

interface VariableReport extends Counted {
  readonly variable: string;
  readonly exclusion: Exclusion;
}

export interface RuleReport extends Counted {
  readonly id: number;
  readonly msg: string;
  readonly variables: readonly VariableReport[];
}

export interface OperationReport extends Counted {
  readonly method: string;
  readonly route: string;
  readonly api: string;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly rules: readonly RuleReport[];
  /** Some of the requests that were refused, or would be. */
  readonly examples: readonly ExampleReport[];
}

interface ExampleReport {
  readonly time: string;
  readonly request_id: string;
  readonly path: string;
  readonly outcome: string;
  readonly inbound: number;
  readonly outbound: number;
  readonly rules: readonly number[];
}

export interface AuditReport {
  /** Lines that were read. */
  readonly lines: number;
  /** Lines that cannot be read, such as those that were cut. */
  readonly unreadable: number;
  /** Lines with the member `waf`. */
  readonly requests: number;
  readonly refused: number;
  readonly from: string;
  readonly to: string;
  readonly operations: readonly OperationReport[];
  /** For what leads to refusals, or for all that matched. */
  readonly exclusions: readonly Exclusion[];
  /** Matches beyond the bound of memory. */
  readonly left_out: number;
}

export interface ReportOptions {
  /** Exclusions for rules whose requests passed, too. */
  readonly all: boolean;
  /** Least networks of clients for an exclusion. */
  readonly minNetworks: number;
}

export interface LineCounts {
  readonly lines: number;
  readonly unreadable: number;
}

export function auditReport(counts: AuditCounts, lines: LineCounts, options: ReportOptions): AuditReport {
  const operations = [...counts.operations].map(operationReport).sort(byRefused);
  const variables = operations.flatMap(({ rules }) => rules.flatMap((rule) => rule.variables));
  const excluded = variables.filter(
    ({ refused, networks }) => (options.all || refused > 0) && networks >= options.minNetworks,
  );
  return {
    ...lines,
    requests: sum(operations.map(({ requests }) => requests)),
    refused: sum(operations.map(({ refused }) => refused)),
    ...counts.period,
    operations,
    exclusions: mergedExclusions(excluded.map(({ exclusion }) => exclusion)),
    left_out: counts.leftOut,
  };
}

function operationReport({ method, route, api, tally, outcomes, rules, examples }: OperationCounts): OperationReport {
  return {
    method,
    route,
    api,
    ...countedOf(tally),
    outcomes,
    rules: [...rules.values()].map((rule) => ruleReport(rule, method, route)).sort(byRefused),
    examples: examples.map(exampleReport),
  };
}

function ruleReport({ id, msg, tally, variables }: RuleCounts, method: string, route: string): RuleReport {
  const reports = [...variables].map(([variable, counted]) => ({
    variable,
    ...countedOf(counted),
    exclusion: exclusionOf(id, variable, method, route),
  }));
  return { id, msg, ...countedOf(tally), variables: reports.sort(byRefused) };
}

function exampleReport({ time, requestId, path, outcome, inbound, outbound, matches }: AuditLine): ExampleReport {
  const rules = [...new Set(matches.filter(isFinding).map(({ id }) => id))];
  return { time, request_id: requestId, path, outcome, inbound, outbound, rules };
}

function countedOf({ requests, refused, networks }: Tally): Counted {
  return { requests, refused, networks };
}

/** Puts those with most refusals first, then those of many networks, which are likely to be harmless. */
function byRefused(a: Counted, b: Counted): number {
  return b.refused - a.refused || b.networks - a.networks || b.requests - a.requests;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}
