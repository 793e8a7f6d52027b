/** Runs cases of regression tests against a gateway with `waf`, and judges what it logs. */
import { coreFiles, readCoreData, recommendedFile } from '../../gateway/features/waf/seclang/crs.test-support.ts';
import { parseSecLang } from '../../gateway/features/waf/seclang/parse.ts';
import { resolveProgram } from '../../gateway/features/waf/seclang/resolve.ts';
import { type CorpusCase, differenceOf, isForServer } from './corpus.ts';
import { type RigOptions, type SentStage, startCorpusRig } from './corpus-over-http.ts';

const LEVEL_TAG = 'paranoia-level/';
/** Requests under way: lines of the log are written ten times a second. */
const AT_ONCE = 12;

/** Paranoia level of a rule, by its id. */
function levelOf(id: number): number {
  return LEVELS.get(id) ?? 1;
}

const { program } = resolveProgram([recommendedFile(), ...coreFiles()].map((file) => parseSecLang(file, readCoreData)));
const LEVELS = new Map(
  program?.rules.map(({ id, tags }) => [id, Number(tags.find((tag) => tag.startsWith(LEVEL_TAG))?.at(-1) ?? 1)]),
);

/** Outcome of a case: `passed`, `refused`, for the `server`, or what differs. */
function outcomeOf({ stages }: CorpusCase, sent: readonly SentStage[], level: number): string {
  const outcomes = stages.map(({ expects }, index) => {
    const { ids = null } = sent[index] ?? {};
    if (isForServer(expects)) return 'server';
    if (ids === null) return 'refused';
    const above = ids.filter((id) => levelOf(id) > level);
    if (above.length > 0) return `matched ${above.join(', ')} of a higher level`;
    const expected = { ...expects, ids: expects.ids.filter((id) => levelOf(id) <= level) };
    return differenceOf(expected, { ids, log: null, status: null }) ?? 'passed';
  });
  return outcomes.find((outcome) => outcome !== 'passed' && outcome !== 'server') ?? outcomes[0] ?? 'passed';
}

/** Sends cases to a gateway of their own; outcomes by the ids of the cases. */
export async function runCases(cases: readonly CorpusCase[], options: RigOptions): Promise<Record<string, string>> {
  const rig = await startCorpusRig(options);
  const outcomes: Record<string, string> = {};
  const waiting = [...cases];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      outcomes[next.id] = outcomeOf(next, await rig.send(next), options.level);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await rig.stop();
  }
  return outcomes;
}

/** Cases that neither pass nor are for the server. */
export function others(
  outcomes: Readonly<Record<string, string>>,
): readonly (readonly [id: string, outcome: string])[] {
  return Object.entries(outcomes).filter(([, outcome]) => outcome !== 'passed' && outcome !== 'server');
}
