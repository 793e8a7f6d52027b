/** Hints of `gw plugin test` beside a case: on things that work elsewhere, but not in a plugin. */

import { isDeepStrictEqual } from 'node:util';
import { allCapabilities } from '../../../features/features.ts';
import type { HookCall, HookResult, PluginKit } from '../../../sdk/testing/index.ts';
import { hostFunctionTable } from '../../wasm/host/host-functions.ts';
import { CLOCK, LOG, NOTHING_TO_AWAIT, STATE } from '../../wasm/sdk-advice.ts';
import { type CaseRun, firstDifference } from './case-run.ts';

export interface CaseHint {
  /** Finding about this case. */
  readonly finding: string;
  /** The same for every case with such a finding. */
  readonly advice: string;
}

const PANIC: CaseHint = {
  finding: 'it panicked, threw or aborted',
  advice: `The reason is in no log unless the plugin logs it before. Clocks of a system (in Rust SystemTime::now), threads and waiting for futures panic here. ${CLOCK} ${NOTHING_TO_AWAIT}`,
};
const SILENT: CaseHint = {
  finding: 'nothing that it prints comes to the log',
  advice: `It does not declare host_log, and println! and other ways to print lead nowhere. ${LOG}`,
};

/** Returns hints for a failed case. */
export function hintsOfFailure({ differences, result }: CaseRun, declared: readonly string[]): readonly CaseHint[] {
  const hints: CaseHint[] = [];
  if (result?.logs.some(({ message }) => message.endsWith('failed: trapped: unreachable'))) hints.push(PANIC);
  else if (differences.some(({ at }) => at === 'logs') && !declared.includes('host_log')) hints.push(SILENT);
  return hints;
}

/** Returns hints for a case with unused answers to HTTP calls. */
export function hintsOfStubs({ unusedStubs }: HookResult): readonly CaseHint[] {
  return unusedStubs.map(({ method = 'any method', url }) => ({
    finding: `http_calls: the plugin did not call ${url} (${method})`,
    advice:
      'An entry of http_calls that the plugin does not call is not tested: compare its method and URL with what the plugin sends (expect.http_calls), or remove it.',
  }));
}

/**
 * Returns a hint if a second call would end differently with the memory that the first has left; otherwise null.
 * `result` is the call's known result. Host functions that may wait reach outside, or change the gateway's state: a
 * plugin that declares one is not called more often than its cases say.
 */
export async function hintOfMemory(
  kit: PluginKit,
  call: HookCall,
  result: HookResult,
  declared: readonly string[],
): Promise<CaseHint | null> {
  const functions = hostFunctionTable([...(await allCapabilities()).values()]);
  if (declared.some((name) => functions.get(name)?.waits)) return null;
  const [first, second] = await kit.twiceInSameMemory(call);
  // Otherwise its result depends on the time, or on chance.
  if (!isDeepStrictEqual(result, await kit.call(call))) return null;
  const difference = firstDifference(first, second);
  if (difference === null) return null;
  const [one, other] = [difference.expected, difference.actual].map((value) => JSON.stringify(value));
  return {
    finding: `it counts on what an earlier call has left in memory (${difference.at} would be ${one}, then ${other})`,
    advice: STATE,
  };
}
