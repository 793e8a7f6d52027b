/** The format of server-sent events (WHATWG HTML, section 9.2.6), without `id` and `retry`. */

/** Default limit of one event, in characters: its sender may be untrusted. */
const MAX_EVENT = 1 << 20;

/** A byte order mark, which a stream may begin with, also if each byte is a character. */
const MARK = /^(?:\ufeff|\u00ef\u00bb\u00bf)/;

export interface ServerSentEvent {
  /** `message` if the stream names none. */
  readonly event: string;
  /** Null for comments, which keep a connection alive. */
  readonly data: string | null;
  /** The whole event as it came, with the empty line at its end. */
  readonly raw: string;
}

export class EventParser {
  /** Text of the incomplete event. */
  #raw = '';
  /** Text of its incomplete line. */
  #line = '';
  #afterReturn = false;
  #event = '';
  #data: string[] = [];
  #isFirst = true;
  readonly #maxEvent: number;

  /** Characters of one event. */
  constructor(maxEvent = MAX_EVENT) {
    this.#maxEvent = maxEvent;
  }

  /** Received part of an event that has not ended yet. */
  get rest(): string {
    return this.#raw;
  }

  /**
   * Takes pieces of the stream, cut anywhere, and returns the events that they complete. Throws if an event is too
   * long.
   */
  push(text: string): readonly ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    if (text === '') return events;
    // The second half of a line end whose first half ended the piece before.
    let from = this.#afterReturn && text.startsWith('\n') ? 1 : 0;
    this.#raw += text.slice(0, from);
    const ends = /\r\n|\n|\r/g;
    ends.lastIndex = from;
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      this.#raw += text.slice(from, ends.lastIndex);
      const line = this.#line + text.slice(from, end.index);
      this.#line = '';
      from = ends.lastIndex;
      if (line !== '') this.#read(this.#isFirst ? line.replace(MARK, '') : line);
      else events.push(this.#take());
      this.#isFirst = false;
    }
    this.#raw += text.slice(from);
    this.#line += text.slice(from);
    this.#afterReturn = text.endsWith('\r');
    this.#checkLength();
    return events;
  }

  #read(line: string): void {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
  }

  #take(): ServerSentEvent {
    this.#checkLength();
    const data = this.#data.length > 0 ? this.#data.join('\n') : null;
    const event = { event: this.#event || 'message', data, raw: this.#raw };
    this.#raw = '';
    this.#event = '';
    this.#data = [];
    return event;
  }

  #checkLength(): void {
    const most = this.#maxEvent;
    if (this.#raw.length > most) throw new Error(`an event of the server has more than ${most} characters`);
  }
}
