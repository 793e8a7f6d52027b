/**
 * Runs the rule set's regression tests through an engine without a server, and prints what differs:
 * `node test/waf/run-corpus.ts oracle|native [--sample] [--program PATH]`.
 */
import { parseArgs } from 'node:util';
import {
  type CorpusCase,
  differenceOf,
  type Expectation,
  isForServer,
  readCorpus,
  sampleOf,
  splitRequest,
} from './corpus.ts';
import { ruleSetProgram } from './frames.ts';
import { askEngine } from './native-engine.ts';
import { askOracle, buildOracle, type OracleRequest } from './oracle.ts';
import { answerOf } from './upstream.ts';

interface Outcome {
  readonly ids: readonly number[];
  readonly log: readonly string[] | null;
}

/** Reasons for cases that fail with any engine behind a lenient server. */
const EXPLAINED: Readonly<Record<string, string>> = {
  '920181-1': 'expects that the server removes Content-Length where there is Transfer-Encoding, as Apache does',
  '920620-1': 'expects that the server joins headers of one name, as Apache does',
  '921140-1': 'expects that the server refuses a header with a bare CR',
};

/** Rules that stand for a line of the log, where an engine keeps none. The body's reader refuses what 922130 looks for. */
function loggedFor(rule: number): readonly number[] {
  return rule === 922130 ? [rule, 200002] : [rule];
}

/** Judges by rules what a case expects of the log. */
function logDifference({ matches, noMatches }: Expectation, rule: number, ids: readonly number[]): string | null {
  const isLogged = loggedFor(rule).some((id) => ids.includes(id));
  if (matches.length > 0 && !isLogged) return `logged nothing for ${rule}`;
  return noMatches.length > 0 && isLogged ? `logged ${rule}` : null;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'boolean', default: false }, program: { type: 'string' } },
});

/** Requests of cases that a lenient server passes on, and the ids of those that it does not. */
function requestsOf(cases: readonly CorpusCase[]): { requests: OracleRequest[]; refused: Set<string> } {
  const requests: OracleRequest[] = [];
  const refused = new Set<string>();
  for (const { id, stages } of cases) {
    for (const [index, { raw }] of stages.entries()) {
      const parts = splitRequest(raw);
      if (parts === null) refused.add(`${id}.${index}`);
      else requests.push({ id: `${id}.${index}`, ...parts, response: answerOf(parts) });
    }
  }
  return { requests, refused };
}

function run(engine: string, requests: readonly OracleRequest[]): Map<string, Outcome> {
  const { program } = values;
  if (engine === 'oracle') {
    const verdicts = askOracle(program ?? buildOracle(), ['--regression', '--log'], requests);
    return new Map(verdicts.map(({ id, rules, log = [] }) => [id, { ids: rules, log }]));
  }
  if (program === undefined) throw new Error('--program is missing');
  const verdicts = askEngine(program, ruleSetProgram('regression'), requests);
  return new Map(
    verdicts.map(({ matches, limit, limitRule }, index) => {
      const id = requests[index]?.id ?? '';
      if (limit !== null) console.log(`${id}: ${limit} ended it in rule ${limitRule}`);
      return [id, { ids: matches.filter((match) => match.isLogged).map((match) => match.id), log: null }];
    }),
  );
}

const corpus = await readCorpus();
const cases = values.sample ? sampleOf(corpus) : corpus;
const { requests, refused } = requestsOf(cases);
const outcomes = run(positionals[0] ?? 'oracle', requests);
const counts = { cases: cases.length, passed: 0, server: 0, explained: 0, failed: 0 };
for (const { id, rule, title, stages } of cases) {
  const differences = stages.flatMap(({ expects }, index) => {
    const outcome = outcomes.get(`${id}.${index}`);
    if (isForServer(expects)) return ['server'];
    if (outcome === undefined) return refused.has(`${id}.${index}`) ? ['server'] : ['no verdict'];
    const difference =
      differenceOf(expects, { ...outcome, status: null }) ??
      (outcome.log === null ? logDifference(expects, rule, outcome.ids) : null);
    return difference === null
      ? []
      : [`${difference}; matched ${outcome.ids.filter((rule) => rule >= 910_000).join(' ')}`];
  });
  if (differences.length === 0) counts.passed++;
  else if (differences.every((difference) => difference === 'server')) counts.server++;
  else if (EXPLAINED[id] !== undefined) counts.explained++;
  else {
    counts.failed++;
    console.log(`${id}: ${differences.join(' | ')} (${title.split('\n')[0]})`);
  }
}
console.log(JSON.stringify(counts));
