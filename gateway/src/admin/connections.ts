/** `/connections/close` of the admin port: has clients connect anew, such as to reach pods that came later. */
import type { Exchange } from '../exchange.ts';
import { parseTextOnce } from '../json/parse-once.ts';
import { problem } from '../problems.ts';
import { isObject } from '../spec/json.ts';
import { bodyOf } from './body.ts';
import { jsonPage, type Page, problemPage } from './page.ts';

export interface ConnectionsState {
  closeKept(withinMs: number): void;
}

/** Bytes of a body that is read. */
const MOST_BODY = 1024;
/** Seconds. */
const MOST_WITHIN = 3600;

/** Takes `{"within_seconds": 10}`. */
export async function closeConnections(x: Exchange, state: ConnectionsState): Promise<Page> {
  const seconds = secondsOf(await bodyOf(x, MOST_BODY));
  if (seconds === undefined) {
    return problemPage(problem('validation-failed', `Send {"within_seconds": 10}: from 0 to ${MOST_WITHIN}.`));
  }
  state.closeKept(seconds * 1000);
  return jsonPage(200, { within_seconds: seconds });
}

function secondsOf(text: string): number | undefined {
  try {
    const value: unknown = parseTextOnce(text);
    const seconds = isObject(value) ? value['within_seconds'] : undefined;
    return typeof seconds === 'number' && seconds >= 0 && seconds <= MOST_WITHIN ? seconds : undefined;
  } catch {
    return undefined;
  }
}
