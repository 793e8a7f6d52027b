/** The format of server-sent events (WHATWG HTML, section 9.2.6), without `id` and `retry`. */

/** Characters of one event: whoever answers may be no control plane. */
const MAX_EVENT = 1 << 20;

export interface ServerSentEvent {
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** Given pieces of the stream, in any cut, gives the events that they complete. Throws where one is too long. */
export function createParser(): (text: string) => readonly ServerSentEvent[] {
  let line = '';
  let afterReturn = false;
  let event = '';
  let data: string[] = [];
  let size = 0;
  return (text) => {
    const events: ServerSentEvent[] = [];
    if (text === '') return events;
    // The other half of a line's end whose first half ended the piece before.
    const [first = '', ...others] = (afterReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\n|\r/);
    afterReturn = text.endsWith('\r');
    // What is there of a line is looked at once, when the line ends.
    const lines = [line + first, ...others];
    line = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') {
        const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
        if (field === 'event') event = value;
        else if (field === 'data') {
          data.push(value);
          size += value.length;
        }
        continue;
      }
      if (data.length > 0) events.push({ event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      size = 0;
    }
    if (size + line.length > MAX_EVENT) throw new Error(`an event of the server has more than ${MAX_EVENT} characters`);
    return events;
  };
}
