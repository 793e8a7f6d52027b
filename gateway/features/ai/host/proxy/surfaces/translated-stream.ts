/** Translates a stream of messages, event by event, into the events of a surface. */

import { EventParser, type ServerSentEvent } from '../../../../kit.ts';
import type { MessageEvent } from '../conversation/conversation.ts';
import type { ProviderError } from '../conversation/provider-failure.ts';
import type { Usage } from '../conversation/usage.ts';
import { MessageEvents } from '../protocols/messages-answer.ts';
import type { StreamedAnswer } from './surface.ts';

/** Reads the stream of a provider. */
export interface EventReader {
  readonly usage: Usage | null;
  /** Throws ProviderFailure or ReportedError. */
  read(event: ServerSentEvent): readonly MessageEvent[];
  /** Returns the remaining events when the stream has ended. Throws ProviderFailure if the answer is incomplete. */
  end(): readonly MessageEvent[];
}

export interface EventWriter {
  /** Returns the text of events; empty if the client gets no event. */
  write(event: MessageEvent): string;
  /** Returns the event that ends a failed stream. */
  error(error: ProviderError): string;
}

export class TranslatedStream implements StreamedAnswer {
  readonly #events: EventReader;
  readonly #writer: EventWriter;

  /** Events outside the protocol are not written. */
  readonly begun = true;

  constructor(writer: EventWriter, events: EventReader = new MessageEvents()) {
    this.#events = events;
    this.#writer = writer;
  }

  get usage(): Usage | null {
    return this.#events.usage;
  }

  push(event: ServerSentEvent): string {
    const { data } = event;
    const decoded = data === null ? event : { ...event, data: Buffer.from(data, 'latin1').toString() };
    return this.#written(this.#events.read(decoded));
  }

  /** `rest`: of an event that has no empty line behind it, which some providers leave out. */
  end(rest: string): string {
    const last = rest === '' ? [] : new EventParser(rest.length + 2).push(`${rest}\n\n`);
    return last.map((event) => this.push(event)).join('') + this.#written(this.#events.end());
  }

  #written(events: readonly MessageEvent[]): string {
    return events.map((each) => this.#writer.write(each)).join('');
  }

  error(error: ProviderError): string {
    return this.#writer.error(error);
  }
}
