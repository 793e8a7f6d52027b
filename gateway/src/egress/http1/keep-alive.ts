/** How long a connection to an upstream is kept behind an answer. */

import type { HeaderList } from '../../exchange.ts';
import { goesOn } from '../../http1/framing.ts';
import type { MessageHead } from '../../http1/message-parser.ts';

/** A request is not sent in the last moments in which the upstream says that it waits for one, as undici has it. */
const MARGIN_MS = 2000;
const MOST_MS = 600_000;
const TIMEOUT = /(?:^|,)[\t ]*timeout=(\d+)/i;

const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** Milliseconds, 0 or less if it is not kept. `defaultMs`: if the upstream does not say. Names are in lower case. */
export function keptMs(head: MessageHead, defaultMs: number): number {
  if (!goesOn(head)) return 0;
  const { status, headers } = head;
  // A body may follow although there must not be one.
  if ((status === NO_CONTENT || status === NOT_MODIFIED) && announcesBody(headers)) return 0;
  let ms = defaultMs;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== 'keep-alive') continue;
    const seconds = TIMEOUT.exec(headers[i + 1] as string)?.[1];
    if (seconds !== undefined) ms = Math.min(Number(seconds) * 1000 - MARGIN_MS, MOST_MS);
  }
  return ms;
}

function announcesBody(headers: HeaderList): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'transfer-encoding') return true;
    if (headers[i] === 'content-length' && Number(headers[i + 1]) > 0) return true;
  }
  return false;
}
