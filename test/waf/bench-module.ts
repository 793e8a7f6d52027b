/**
 * Measures inspections as the gateway runs them, metered and with memory put back after each: milliseconds of CPU of the
 * two requests of `oracle --bench`: `node test/waf/bench-module.ts [LEVEL]`.
 */
import { RuleSets } from '../../gateway/features/waf/host/rule-sets.ts';
import { readVerdict } from '../../gateway/features/waf/host/verdict.ts';
import { benchRequests } from './bench-requests.ts';
import { ruleSetProgram, transactionFrame } from './frames.ts';

const ROUNDS = 500;
const LIMITS = { cpuMs: 10_000, check: () => {} };

function cpuMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1000;
}

const [level = '1'] = process.argv.slice(2);
let before = process.threadCpuUsage();
const rules = await new RuleSets().open('bench', ruleSetProgram(Number(level)));
console.log(`load: ${cpuMs(before)} ms, resident ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MB`);
for (const request of benchRequests()) {
  const frame = transactionFrame(request, { blocks: false });
  const inspect = () => rules.inspect(frame, LIMITS);
  for (let i = 0; i < ROUNDS / 5; i++) await inspect();
  let engineMs = 0;
  before = process.threadCpuUsage();
  for (let i = 0; i < ROUNDS; i++) engineMs += (await inspect()).cpuMs;
  const all = cpuMs(before) / ROUNDS;
  const { units } = readVerdict((await inspect()).bytes);
  console.log(
    `${request.id}: ${all.toFixed(2)} ms, of which the engine ${(engineMs / ROUNDS).toFixed(2)}; ${units} units`,
  );
}
