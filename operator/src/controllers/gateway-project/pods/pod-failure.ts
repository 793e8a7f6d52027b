/** Why a pod will not become ready by waiting: the repeated exit reasons of its containers. Pure. */
import type { Pod } from '../../../api/resources.ts';

/** Restarts after which a pod that was never ready counts as failed. */
const RESTARTS = 3;
/**
 * Exit code for a secret reference that does not resolve: waiting does not help (docs/reference/gateway.md#secrets).
 */
const EXIT_SECRET = 13;
const MAX_MESSAGE = 500;

/** Describes the failure; undefined while the pod may still become ready. */
export function podFailure(pod: Pod): string | undefined {
  for (const { state, lastState, restartCount = 0 } of pod.status?.containerStatuses ?? []) {
    const ended = state?.terminated ?? lastState?.terminated;
    if (ended === undefined || !ended.exitCode) continue;
    const again = ended.exitCode === EXIT_SECRET ? 1 : RESTARTS;
    if (restartCount < again) continue;
    const said = lastWords(ended.message);
    return `it ended with exit code ${ended.exitCode}${said ? `: ${said}` : ''}`;
  }
  return undefined;
}

/** Returns the line with the reason from the end of a log. */
function lastWords(log: string | undefined): string {
  const lines = (log ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = lines.findLast((each) => each.startsWith('gw serve: ')) ?? lines.at(-1) ?? '';
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line;
}
