/** Events as server-sent events (HTML, section 9.2). */
import type { Framing } from './client-event.ts';

const LINE_BREAK = /\r\n|\r|\n/;

export const SERVER_SENT_EVENTS: Framing = {
  write({ event, data }, id) {
    const name = event === 'message' ? '' : `event: ${event}\n`;
    const lines = LINE_BREAK.test(data) ? data.split(LINE_BREAK).join('\ndata: ') : data;
    return Buffer.from(`${name}${idLine(id)}data: ${lines}\n\n`);
  },
  // Without data clients see no event, but the id counts.
  opening: (id, retryMs) => Buffer.from(`retry: ${retryMs}\n${idLine(id)}\n`),
  heartbeat: (id) => Buffer.from(`:\n${idLine(id)}\n`),
};

function idLine(id: string | null): string {
  return id === null ? '' : `id: ${id}\n`;
}
