/** A refusal in the form of the surface that the request is for (docs/decisions.md#ai-refusals-of-messages). */

import type { Exchange, Problem } from '../../../../kit.ts';
import { errorType } from '../conversation/refusal.ts';
import { messageErrorBody } from './messages-answer.ts';
import { surfaceOf } from './surface-of.ts';
import { isOfMessages } from './unsupported-paths.ts';

/** A problem that the gateway or any plugin has made: clients of these protocols read `error` (docs/decisions.md#ai-problems). */
export function problemInForm(exchange: Exchange, problem: Problem): Problem {
  return problemFor(exchange, withError(problem));
}

function withError(problem: Problem): Problem {
  const { status, title, detail = title, members = {} } = problem;
  if ('error' in members) return problem;
  const { code } = members;
  const error = { message: detail, type: errorType(status), param: null, code: typeof code === 'string' ? code : null };
  return { ...problem, members: { ...members, error } };
}

/** Clients of messages recognise an error only by the `type` `error`; `code` identifies it. */
export function problemFor(exchange: Exchange, problem: Problem): Problem {
  const surface = surfaceOf(exchange.path);
  if (surface !== 'messages' && surface !== 'counting' && !isOfMessages(exchange.path)) return problem;
  const { status, title, detail = title, members } = problem;
  const { type, error } = messageErrorBody({ status, message: detail, code: null });
  return { ...problem, writtenType: type, members: { ...members, error: { ...Object(members?.['error']), ...error } } };
}
