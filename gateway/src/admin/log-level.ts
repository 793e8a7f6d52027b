/** `/log-level` of the admin port: reads and changes the level of logs, until the process ends. */
import type { Exchange } from '../exchange.ts';
import { problem } from '../problems.ts';
import { type Level, LOG_LEVELS, type Log } from '../telemetry/log.ts';
import { memberOf } from './body.ts';
import { jsonPage, type Page, problemPage } from './page.ts';

export interface LogLevelState {
  readonly log: Pick<Log, 'level' | 'configuredLevel'>;
  setLogLevel(level: Level): Promise<void>;
}

export function logLevelPage({ log }: LogLevelState): Page {
  return jsonPage(200, { level: log.level, configured: log.configuredLevel });
}

/** Takes `{"level": "debug"}`. */
export async function changeLogLevel(exchange: Exchange, state: LogLevelState): Promise<Page> {
  const level = levelOf(await memberOf(exchange, 'level'));
  if (level === undefined) {
    return problemPage(problem('validation-failed', `Send {"level": "debug"}: one of ${LOG_LEVELS.join(', ')}.`));
  }
  await state.setLogLevel(level);
  return logLevelPage(state);
}

function levelOf(value: unknown): Level | undefined {
  return LOG_LEVELS.find((each) => each === value);
}
