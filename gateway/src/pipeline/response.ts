/** The response in an exchange, before it is sent. */
import { type Answer, changeHeader, type Exchange, problemOf } from '../exchange.ts';
import { renderProblem } from '../problems.ts';

/** Puts an answer in place as the response. `dev`: with the errors of a problem document. */
export function setResponse(exchange: Exchange, answer: Answer, dev: boolean): void {
  exchange.problem = problemOf(answer);
  exchange.trace?.answered(exchange.problem);
  if ('problem' in answer) {
    const { errors: _, ...plain } = answer.problem;
    exchange.responseStatus = answer.problem.status;
    exchange.responseHeaders = ['content-type', 'application/problem+json', ...(answer.problem.headers ?? [])];
    exchange.responseBody = renderProblem(dev ? answer.problem : plain);
  } else {
    exchange.responseStatus = answer.status;
    exchange.responseHeaders = answer.headers ? [...answer.headers] : [];
    exchange.responseBody = answer.body;
  }
}

/** Applies the changes of headers that plugins staged before there was a response. */
export function applyStaged(exchange: Exchange): void {
  if (exchange.staged === null) return;
  for (const { op, name, value } of exchange.staged) changeHeader(exchange.responseHeaders, op, name, value);
  exchange.staged = null;
}
