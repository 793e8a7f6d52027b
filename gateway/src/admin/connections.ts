/** `/connections/close` of the admin port: has clients connect anew, such as to reach pods that came later. */
import type { Exchange } from '../exchange.ts';
import { problem } from '../problems.ts';
import { memberOf } from './body.ts';
import { jsonPage, type Page, problemPage } from './page.ts';

export interface ConnectionsState {
  closeKept(withinMs: number): void;
}

/** Seconds. */
const MOST_WITHIN = 3600;

/** Takes `{"within_seconds": 10}`. */
export async function closeConnections(exchange: Exchange, state: ConnectionsState): Promise<Page> {
  const seconds = secondsOf(await memberOf(exchange, 'within_seconds'));
  if (seconds === undefined) {
    return problemPage(problem('validation-failed', `Send {"within_seconds": 10}: from 0 to ${MOST_WITHIN}.`));
  }
  state.closeKept(seconds * 1000);
  return jsonPage(200, { within_seconds: seconds });
}

function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST_WITHIN ? value : undefined;
}
