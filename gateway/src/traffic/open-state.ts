/** Opens the state that `--state` names; without it, that of this process. */
import type { ServeOptions } from '../options/serve-options.ts';
import { MemoryState } from '../state/memory-state.ts';
import type { State } from '../state/state.ts';
import type { Log } from '../telemetry/log.ts';

/** An unavailable server is not an error: it is logged, and tried again. */
export async function openState({ state, statePrefix, stateTimeoutMs }: ServeOptions, { logger }: Log): Promise<State> {
  if (state === undefined) return new MemoryState();
  const { RedisState } = await import('../state/redis-state.ts');
  return RedisState.open({
    url: state,
    prefix: statePrefix,
    timeoutMs: stateTimeoutMs,
    away: (reason) =>
      logger.error({ reason }, 'the state server is unavailable: requests are handled as their policies say'),
    warn: (message) => logger.warn(message),
    back: () => logger.info('the state server is available again'),
  });
}
