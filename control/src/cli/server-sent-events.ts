/** Reads server-sent events (WHATWG HTML, section 9.2) as far as gw-control writes them. */

/** Characters of one event: whoever answers may be no gw-control. */
const MAX_EVENT = 1 << 20;

export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** Given pieces of the stream, gives the events that they complete. */
export function createParser(): (text: string) => ServerSentEvent[] {
  let rest = '';
  return (text) => {
    const blocks = (rest + text.replaceAll('\r\n', '\n')).split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > MAX_EVENT) throw new Error(`an event of the server has more than ${MAX_EVENT} characters`);
    return blocks.flatMap((block) => {
      let event = 'message';
      const data: string[] = [];
      for (const line of block.split('\n')) {
        if (line.startsWith('event:')) event = line.slice(6).trim();
        else if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      }
      return data.length > 0 ? [{ event, data: data.join('\n') }] : [];
    });
  };
}
