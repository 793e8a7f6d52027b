/** `/trace` of the admin port: sends a request through the pipeline and answers with the decision of each stage. */
import type { Exchange } from '../exchange.ts';
import { problem } from '../problems.ts';
import type { TraceReport } from '../trace/report.ts';
import type { TraceRequest } from '../trace/request.ts';
import { bodyOf } from './body.ts';
import { jsonPage, type Page, problemPage } from './page.ts';

export interface TraceState {
  /** Resolves with null if no artifact is loaded. */
  trace(request: TraceRequest, peer: string): Promise<TraceReport | null>;
}

/** Bytes of a body that is read: a request's own body travels in it. */
const MOST_BODY = 2 << 20;
/** At once, so that traces cannot take the place of traffic. */
const MOST_TRACES = 4;

let running = 0;

export async function tracePage(exchange: Exchange, state: TraceState): Promise<Page> {
  if (running >= MOST_TRACES) {
    return problemPage(problem('rate-limited', `There are ${MOST_TRACES} traces in progress: try again.`));
  }
  running++;
  try {
    const { readTraceRequest, TraceRequestError } = await import('../trace/request.ts');
    try {
      const report = await state.trace(readTraceRequest(await bodyOf(exchange, MOST_BODY)), exchange.peer);
      if (report === null) return problemPage(problem('no-artifact', 'No artifact is loaded.'));
      return jsonPage(200, report);
    } catch (error) {
      if (!(error instanceof TraceRequestError)) throw error;
      return problemPage(problem('validation-failed', error.message));
    }
  } finally {
    running--;
  }
}
