/** The response in an exchange, before it is sent. */
import { type Answer, changeHeader, type Exchange, problemOf } from '../exchange.ts';
import { renderProblem } from '../problems.ts';

/** Puts an answer in place as the response. `dev`: with the errors of a problem document. */
export function setResponse(x: Exchange, answer: Answer, dev: boolean): void {
  x.problem = problemOf(answer);
  x.trace?.answered(x.problem);
  if ('problem' in answer) {
    const { errors: _, ...plain } = answer.problem;
    x.responseStatus = answer.problem.status;
    x.responseHeaders = ['content-type', 'application/problem+json', ...(answer.problem.headers ?? [])];
    x.responseBody = renderProblem(dev ? answer.problem : plain);
  } else {
    x.responseStatus = answer.status;
    x.responseHeaders = answer.headers ? [...answer.headers] : [];
    x.responseBody = answer.body;
  }
}

/** Applies the changes of headers that plugins staged before there was a response. */
export function applyStaged(x: Exchange): void {
  if (x.staged === null) return;
  for (const { op, name, value } of x.staged) changeHeader(x.responseHeaders, op, name, value);
  x.staged = null;
}
