/** Server-sent events by fetch, since EventSource cannot send the token. */
import { send } from './client.ts';

export interface ServerEvent<T = unknown> {
  readonly name: string;
  /** As the schema of the operation has it. */
  readonly data: T;
}

export interface StreamListener<T> {
  /** The stream is there. */
  readonly opened?: () => void;
  readonly event: (event: ServerEvent<T>) => void;
}

/** Until the stream ends; throws where it cannot be had or breaks off. */
export async function readEvents<T>(path: string, signal: AbortSignal, listener: StreamListener<T>): Promise<void> {
  const response = await send('GET', path, { signal, headers: { accept: 'text/event-stream' } });
  if (!response.body) return;
  listener.opened?.();
  const parser = eventParser(listener.event);
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) parser(chunk);
}

/** Takes the stream in any pieces (WHATWG HTML, section 9.2.6). Events whose data is no JSON are left out. */
export function eventParser<T>(each: (event: ServerEvent<T>) => void): (chunk: string) => void {
  let rest = '';
  let name = '';
  let data: string[] = [];
  const dispatch = () => {
    const text = data.join('\n');
    if (text !== '') {
      try {
        each({ name: name || 'message', data: JSON.parse(text) });
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    name = '';
    data = [];
  };
  const line = (text: string) => {
    if (text === '') return dispatch();
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(text) ?? [];
    if (field === 'event') name = value;
    else if (field === 'data') data.push(value);
  };
  return (chunk) => {
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const each of lines) line(each);
  };
}
