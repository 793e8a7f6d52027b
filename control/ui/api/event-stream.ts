/** Server-sent events by fetch, since EventSource cannot send the token. */
import { send } from './client.ts';
import { eventParser, type ServerEvent } from './event-parser.ts';

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
