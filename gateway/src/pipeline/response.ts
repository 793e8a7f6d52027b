/** The response in an exchange, before it is sent. */
import { type Answer, changeHeader, type Exchange, problemOf } from '../exchange.ts';
import { renderProblem } from '../problems.ts';

/** Puts an answer in place as the response. `dev`: with all that a problem document has for developers. */
export function setResponse(exchange: Exchange, answer: Answer, dev: boolean): void {
  const { response } = exchange;
  response.problem = problemOf(answer);
  exchange.trace?.answered(response.problem);
  if ('problem' in answer) {
    const { errors: _, devMembers: __, ...plain } = answer.problem;
    response.status = answer.problem.status;
    response.headers = ['content-type', 'application/problem+json', ...(answer.problem.headers ?? [])];
    response.body = renderProblem(dev ? answer.problem : plain);
  } else {
    response.status = answer.status;
    response.headers = answer.headers ? [...answer.headers] : [];
    response.body = answer.body;
  }
}

/** Applies the changes of headers that plugins staged before there was a response. */
export function applyStaged({ response }: Exchange): void {
  if (response.staged === null) return;
  for (const { op, name, value } of response.staged) changeHeader(response.headers, op, name, value);
  response.staged = null;
}
