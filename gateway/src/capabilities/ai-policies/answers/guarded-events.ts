/** The events of a stream, of whatever surface, with the texts in them rewritten. */
import type { ServerSentEvent } from '../../../server-sent-events.ts';
import { get } from '../../../spec/json.ts';
import { fileText } from '../../ai/request/file-text.ts';
import { dropLogprobs, isMembers, type Rewrite, rewriteTexts } from './answer-texts.ts';
import { addRest, type DeltaPiece, deltaPieces } from './delta-texts.ts';

/** A text that comes in pieces. */
export interface TextStream {
  push(piece: string): string;
  end(): string;
}

export interface Guarding {
  begin(isJson: boolean): TextStream;
  readonly whole: Rewrite;
}

type Members = Record<string, unknown>;
type DeltaPath = DeltaPiece['path'];

/** Ends the streams of completions. */
const DONE = '[DONE]';

/** Deltas of a response whose text is JSON. */
const JSON_DELTA = /arguments|tool_call_input|\.code\./;

export class GuardedEvents {
  readonly #guarding: Guarding;
  readonly #streams = new Map<string, TextStream>();
  /** Of texts in deltas of completions: where what is left of them goes. */
  readonly #paths = new Map<string, DeltaPath>();
  /** Of the last chunk of a completion: for what is left when it has no end. */
  #head: Members = {};
  #surface: 'chat' | 'responses' | 'messages' = 'chat';
  /** Of the last event of a response. */
  #number = -1;
  /** Events that were added to a response: those behind them have other numbers. */
  #added = 0;

  constructor(guarding: Guarding) {
    this.#guarding = guarding;
  }

  /** What a client takes for an error; the stream ends behind it. */
  error(message: string, code: string): string {
    if (this.#surface === 'messages') {
      return typedEvent({ type: 'error', error: { type: 'permission_error', message } });
    }
    if (this.#surface === 'chat') return dataEvent({ error: { message, type: 'permission_error', param: null, code } });
    return typedEvent({ type: 'error', sequence_number: this.#number + 1, code, message, param: null });
  }

  /** What goes on in its place. Throws AnswerBlocked. */
  push({ data, raw }: ServerSentEvent): string {
    if (data === null) return raw;
    const value = jsonOf(data);
    if (!isMembers(value)) return this.#left() + this.#other(data, value, raw);
    const { type } = value;
    if (Array.isArray(value['choices'])) return this.#chunk(value, value['choices']);
    if (typeof type === 'string' && type.startsWith('response.')) return this.#responseEvent(value, type);
    if (typeof type === 'string' && /^(?:message|content_block)_/.test(type)) return this.#messageEvent(value, type);
    const before = JSON.stringify(value);
    rewriteTexts(value, this.#guarding.whole);
    const after = JSON.stringify(value);
    if (after === before) return raw;
    return typedEvent(value);
  }

  /** Data that are no object of JSON: a list, or a text. */
  #other(data: string, value: unknown, raw: string): string {
    if (data === DONE) return raw;
    if (Array.isArray(value)) {
      rewriteTexts(value, this.#guarding.whole);
      return dataEvent(value);
    }
    const rewritten = this.#guarding.whole(data, value !== null);
    return rewritten === data ? raw : `data: ${rewritten.replaceAll('\n', '\ndata: ')}\n\n`;
  }

  /** The stream has ended. */
  end(): string {
    return this.#left();
  }

  #piece(key: string, piece: string, isJson: boolean): string {
    const stream = this.#streams.get(key) ?? this.#guarding.begin(isJson);
    this.#streams.set(key, stream);
    return stream.push(piece);
  }

  /** What is left of a text that has ended. */
  #rest(key: string): string {
    const rest = this.#streams.get(key)?.end() ?? '';
    this.#streams.delete(key);
    return rest;
  }

  // --- chat completions

  #chunk(value: Members, choices: unknown[]): string {
    this.#surface = 'chat';
    const { id, object, created, model } = value;
    this.#head = { id, object, created, model };
    const pieces: (() => void)[] = [];
    for (const choice of choices) {
      if (!isMembers(choice)) continue;
      const { delta, index } = choice;
      dropLogprobs(choice);
      if (!isMembers(delta)) continue;
      // They wait: nothing else looks at a piece alone.
      for (const { path, text, isJson, replace } of deltaPieces(delta)) {
        replace('');
        pieces.push(() => replace(this.#deltaPiece(`choice ${index}`, path, text, isJson)));
      }
    }
    rewriteTexts(value, this.#guarding.whole);
    for (const put of pieces) put();
    for (const choice of choices) {
      if (!isMembers(choice) || typeof choice['finish_reason'] !== 'string') continue;
      const { delta, index } = choice;
      choice['delta'] = this.#ended(`choice ${index}`, isMembers(delta) ? delta : {});
    }
    return dataEvent(value);
  }

  #deltaPiece(choice: string, path: DeltaPath, text: string, isJson: boolean): string {
    const key = `${choice} ${path.join(' ')}`;
    this.#paths.set(key, path);
    return this.#piece(key, text, isJson);
  }

  /** The last delta of a choice, with what is left of its texts. */
  #ended(choice: string, delta: Members): Members {
    for (const key of [...this.#streams.keys()].filter((each) => each.startsWith(`${choice} `))) {
      const rest = this.#rest(key);
      const path = this.#paths.get(key);
      if (rest !== '' && path) addRest(delta, path, rest);
    }
    return delta;
  }

  /** Of choices without an end. */
  #left(): string {
    const choices = new Set([...this.#streams.keys()].flatMap((key) => /^choice \S+/.exec(key) ?? []));
    const ended = [...choices].map((choice) => ({ choice, delta: this.#ended(choice, {}) }));
    const events = ended.filter(({ delta }) => Object.keys(delta).length > 0);
    return events
      .map(({ choice, delta }) => {
        const index = Number(choice.slice('choice '.length));
        return dataEvent({ ...this.#head, choices: [{ index, delta, finish_reason: null }] });
      })
      .join('');
  }

  // --- responses

  #responseEvent(value: Members, type: string): string {
    this.#surface = 'responses';
    const number = value['sequence_number'];
    if (typeof number === 'number') {
      this.#number = number + this.#added;
      value['sequence_number'] = this.#number;
    }
    dropLogprobs(value);
    const part = value['content_index'] ?? value['summary_index'];
    const key = `${String(value['item_id'])} ${String(part)} ${type.replace(/\.(?:delta|done)$/, '')}`;
    const { delta } = value;
    if (type.endsWith('.delta') && typeof delta === 'string' && !isSpeech(type, delta)) {
      value['delta'] = '';
      rewriteTexts(value, this.#guarding.whole);
      value['delta'] = this.#piece(key, delta, JSON_DELTA.test(type));
      return typedEvent(value);
    }
    const rest = type.endsWith('.done') ? this.#rest(key) : '';
    rewriteTexts(value, this.#guarding.whole);
    if (rest === '') return typedEvent(value);
    const { item_id, output_index, content_index, summary_index, sequence_number } = value;
    const before = type.replace(/\.done$/, '.delta');
    // Those that the event has not are undefined, and so not written.
    const added = { type: before, sequence_number, item_id, output_index, content_index, summary_index, delta: rest };
    this.#added++;
    if (typeof sequence_number === 'number') value['sequence_number'] = sequence_number + 1;
    return typedEvent(added) + typedEvent(value);
  }

  // --- messages

  #messageEvent(value: Members, type: string): string {
    this.#surface = 'messages';
    const key = `block ${String(value['index'])}`;
    const { delta } = value;
    const pieces: (() => void)[] = [];
    if (type === 'content_block_delta' && isMembers(delta)) {
      for (const name of ['text', 'thinking', 'partial_json']) {
        const piece = get(delta, name);
        if (typeof piece !== 'string') continue;
        delta[name] = '';
        pieces.push(() => {
          delta[name] = this.#piece(`${key} ${name}`, piece, name === 'partial_json');
        });
      }
    }
    rewriteTexts(value, this.#guarding.whole);
    for (const put of pieces) put();
    const rest = type === 'content_block_stop' ? this.#blockRest(key, value['index']) : '';
    return rest + typedEvent(value);
  }

  #blockRest(key: string, index: unknown): string {
    const deltas = { text: 'text_delta', thinking: 'thinking_delta', partial_json: 'input_json_delta' };
    return Object.entries(deltas)
      .map(([name, type]) => {
        const rest = this.#rest(`${key} ${name}`);
        if (rest === '') return '';
        return typedEvent({ type: 'content_block_delta', index, delta: { type, [name]: rest } });
      })
      .join('');
  }
}

function dataEvent(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The event is named as the value says that it is. */
function typedEvent(value: { readonly [name: string]: unknown }): string {
  const type = value['type'];
  const name = typeof type === 'string' && !/[\r\n]/.test(type) ? `event: ${type}\n` : '';
  return `${name}data: ${JSON.stringify(value)}\n\n`;
}

/** Sound in Base64; what only says that it is, is a text. */
function isSpeech(type: string, delta: string): boolean {
  return (
    /^response\.(?:output_)?audio\.delta$/.test(type) && fileText({ type }, 'delta', delta, null, '')?.kind === 'binary'
  );
}

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
