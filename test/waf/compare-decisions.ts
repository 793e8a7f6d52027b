/**
 * Compares the engine's decisions with Coraza's on generated requests, at paranoia levels 1 and 4: refused or not, by
 * which rule, and the rules that matched. `node test/waf/compare-decisions.ts ENGINE [ORACLE] [--count N] [--seed N]`
 * prints how often each reason of `REASONS` explains a difference, and the differences that none explains.
 *
 * Coraza's own answers change from run to run where a request has a name twice: it keeps results of transformations by a
 * value's place, and takes values of one collection in an order of chance. So it is asked several times, and a rule differs
 * only if each run, or none, has it.
 */
import { parseArgs } from 'node:util';
import type { Verdict as EngineVerdict } from '../../gateway/features/waf/host/verdict.ts';
import { ruleSetProgram } from './frames.ts';
import { generatedRequests } from './generated-requests.ts';
import { askEngine } from './native-engine.ts';
import { askOracle, buildOracle, type OracleRequest, type Verdict } from './oracle.ts';

const LEVELS = [1, 4];
const RUNS = 6;
/** Rules for each score, which tell nothing beside the rules that have made it. */
const BOOKKEEPING = /^(9[0-9]{2}01[1-8]|9[0-9]{2}0[4-6][0-9]|9[0-9]{2}1[5-6][0-9]|949110|959100|98\d{4})$/;

/** A request on which the engines differ. */
interface Difference {
  readonly request: OracleRequest;
  readonly engine: EngineVerdict;
  readonly coraza: Verdict;
  /** Rules that the engine alone, and that Coraza alone, matched. */
  readonly more: readonly number[];
  readonly less: readonly number[];
}

interface Reason {
  readonly title: string;
  readonly explains: (difference: Difference) => boolean;
}

/** A byte outside of ASCII, or one that is encoded. */
const HIGH = /[\x80-\xff]|%[89a-f]|%25[89A-F]|%u[0-9a-f]{2}[89a-f]/i;

function matchedBy(difference: Difference, rules: readonly number[]): boolean {
  return [...difference.more, ...difference.less].every((rule) => rules.includes(rule));
}

function textOf({ target, headers, body }: OracleRequest): string {
  return `${target}\n${headers.map((header) => header.join(': ')).join('\n')}\n${body.toString('latin1')}`;
}

const REASONS: readonly Reason[] = [
  {
    title:
      'the engine notes a missing last boundary, or a wrong head of a part, as an error of the body; Coraza only as one of parts',
    explains: ({ more, less, engine, coraza }) =>
      more.includes(200002) && less.includes(200003) && engine.status === coraza.status,
  },
  {
    title: 'Coraza does not take `--boundary--` with LF alone for the end of a form without parts',
    explains: ({ request, less, coraza }) =>
      less.includes(200002) && coraza.by === 200002 && /^--.*--\n$/.test(request.body.toString('latin1')),
  },
  {
    title:
      'a character outside of ASCII is one for Coraza; for ModSecurity, and for the engine, it is as many as it has bytes',
    explains: (difference) => matchedBy(difference, [942460]) && HIGH.test(textOf(difference.request)),
  },
  {
    title: 'rules that compare what the last value captured: Coraza takes values in an order of chance',
    explains: (difference) => matchedBy(difference, [942130, 942131, 942521]),
  },
  {
    title:
      'the engine refuses XML that is not well formed, as ModSecurity; Coraza takes attributes that are there twice',
    explains: ({ request, more }) => more.includes(200002) && request.body.toString('latin1').startsWith('<'),
  },
  {
    title: 'Coraza takes a target in absolute form with a wrong escape for a path as a whole',
    explains: (difference) => matchedBy(difference, [931131]) && /^http.*%u/i.test(difference.request.target),
  },
  {
    title: 'the engine looks at the names of empty arrays of JSON',
    explains: ({ request, less }) => less.length === 0 && request.body.includes('[]'),
  },
];

function differenceOf(request: OracleRequest, engine: EngineVerdict, runs: readonly Verdict[]): Difference | null {
  const [coraza] = runs;
  if (coraza === undefined) throw new Error('a verdict is missing');
  const ids = new Set(engine.matches.map(({ id }) => id).filter((id) => !BOOKKEEPING.test(String(id))));
  const ofRuns = runs.map(({ all }) => new Set(all.filter((id) => !BOOKKEEPING.test(String(id)))));
  const more = [...ids].filter((id) => !ofRuns.some((run) => run.has(id)));
  const less = [...(ofRuns[0] ?? [])].filter((id) => !ids.has(id) && ofRuns.every((run) => run.has(id)));
  const decision = engine.outcome === 'refused' ? `${engine.status} ${engine.rule}` : '0 0';
  const isSame = runs.some(({ status = 0, by = 0 }) => `${status} ${by}` === decision);
  return isSame && more.length + less.length === 0 ? null : { request, engine, coraza, more, less };
}

function describe({ request, engine, coraza, more, less }: Difference): string {
  const rules = [...more.map((id) => `+${id}`), ...less.map((id) => `-${id}`)].join(' ');
  return `${request.id}: ${engine.status} ${engine.rule}, Coraza ${coraza.status ?? 0} ${coraza.by ?? 0}; ${rules}`;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
});
const [path = '', oracle = buildOracle()] = positionals;
const requests = generatedRequests(Number(values.count), Number(values.seed));

for (const level of LEVELS) {
  const runs = Array.from({ length: RUNS }, () =>
    askOracle(oracle, ['--block', '--paranoia', String(level)], requests),
  );
  const verdicts = askEngine(path, ruleSetProgram(level), requests, {
    blocks: true,
    tellsAll: true,
    budget: 0xffff_ffff,
    maxDepth: 1024,
  });
  const differences = requests.flatMap((request, index) => {
    const engine = verdicts[index];
    if (engine === undefined) throw new Error('a verdict is missing');
    return (
      differenceOf(
        request,
        engine,
        runs.flatMap((run) => run[index] ?? []),
      ) ?? []
    );
  });
  const counts = new Map<string, number>();
  for (const difference of differences) {
    const reason = REASONS.find(({ explains }) => explains(difference));
    if (reason === undefined) console.log(describe(difference));
    else counts.set(reason.title, (counts.get(reason.title) ?? 0) + 1);
  }
  const refused = verdicts.filter(({ outcome }) => outcome === 'refused').length;
  console.log(`level ${level}: ${requests.length} requests, ${refused} refused, ${differences.length} differ`);
  for (const [title, count] of counts) console.log(`  ${count}: ${title}`);
}
