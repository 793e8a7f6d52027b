/** The request of a realtime session: the model, in the query of its handshake. */

import type { Obj } from '../../../../kit.ts';
import { refusal } from '../conversation/refusal.ts';

/** Throws AiRefusal if the query names several models, or has other parameters. */
export function realtimeRequest(query = ''): Obj {
  const parameters = [...new URLSearchParams(query)];
  const other = parameters.find(([name]) => name !== 'model')?.[0];
  if (other !== undefined)
    throw badQuery(other, `A realtime session takes model alone in its query, not ${quote(other)}.`);
  if (parameters.length > 1) throw badQuery('model', 'The query must name one model.');
  return Object.fromEntries(parameters);
}

function badQuery(param: string, detail: string) {
  return refusal('validation-failed', 'invalid_request', detail, { param: param.slice(0, MOST) });
}

/** Characters of a client's text in a problem. */
const MOST = 64;

function quote(name: string): string {
  return JSON.stringify(name.length > MOST ? `${name.slice(0, MOST)}…` : name);
}
