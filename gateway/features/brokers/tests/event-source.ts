/** A client of server-sent events (HTML, section 9.2), which reads as it is told to. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { eventually } from '../../../../test/eventually.ts';

export interface StreamEvent {
  readonly event: string;
  /** The last that came. */
  readonly id: string;
  readonly data: string;
}

export interface EventSourceOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

export class EventClient {
  readonly response: IncomingMessage;
  readonly #request: ClientRequest;
  readonly events: StreamEvent[] = [];
  /** As it was told to wait before it reconnects; milliseconds. */
  retry = 0;
  lastId = '';
  comments = 0;
  /** How the stream ended: as one that is whole, or broken off; null while it goes on. */
  end: 'whole' | 'broken' | null = null;
  #rest = '';
  #event = '';
  #data: string[] = [];

  private constructor(asked: ClientRequest, response: IncomingMessage) {
    this.#request = asked;
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#receive(text));
    response.on('end', () => {
      this.end ??= 'whole';
    });
    response.on('close', () => {
      this.end ??= 'broken';
    });
    response.on('error', () => {});
  }

  /** Resolves with the head of the answer, whatever it is. */
  static open(url: string, { headers = {}, method = 'GET' }: EventSourceOptions = {}): Promise<EventClient> {
    return new Promise((resolve, reject) => {
      const asked = request(url, { method, agent: false, headers: { accept: 'text/event-stream', ...headers } });
      asked.on('response', (response) => resolve(new EventClient(asked, response)));
      asked.on('error', reject).end();
    });
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  get data(): readonly string[] {
    return this.events.map(({ data }) => data);
  }

  /** Waits until there are so many events. */
  async until(count: number): Promise<readonly StreamEvent[]> {
    await eventually(() => {
      if (this.events.length < count) throw new Error(`${this.events.length} events of ${count}`);
    });
    return this.events;
  }

  close(): void {
    this.#request.destroy();
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) this.comments++;
    const [, field = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
    if (field === 'retry') this.retry = Number(value);
    else if (field === 'id') this.lastId = value;
    else if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
  }

  #dispatch(): void {
    if (this.#data.length > 0) {
      this.events.push({ event: this.#event || 'message', id: this.lastId, data: this.#data.join('\n') });
    }
    this.#event = '';
    this.#data = [];
  }
}
