/** The events of a stream, of whatever surface, with the texts in them rewritten. */

import { get, parseAsWritten, plainNumber, repeatsName, type ServerSentEvent, type Steps } from '../../../../kit.ts';
import { fileText } from '../../proxy/request/file-text.ts';
import { dropLogprobs, isMembers, type Rewrite, rewriteTexts } from './answer-texts.ts';
import { addRest, type DeltaPiece, deltaPieces } from './delta-texts.ts';

/** A text that comes in pieces. */
export interface TextStream {
  push(piece: string): Steps<string>;
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
  /** Places for the rests of texts in deltas of completions. */
  readonly #paths = new Map<string, DeltaPath>();
  /** Head of a completion's last chunk: for the rests of texts if it has no end. */
  #head: Members = {};
  #surface: 'chat' | 'responses' | 'messages' = 'chat';
  /** Number of a response's last event. */
  #number = -1;
  /** Events that were added to a response: those behind them have other numbers. */
  #added = 0;

  constructor(guarding: Guarding) {
    this.#guarding = guarding;
  }

  /** Returns the event that clients read as an error; it ends the stream. */
  error(message: string, code: string): string {
    if (this.#surface === 'messages') {
      return typedEvent({ type: 'error', error: { type: 'permission_error', message } });
    }
    if (this.#surface === 'chat') return dataEvent({ error: { message, type: 'permission_error', param: null, code } });
    return typedEvent({ type: 'error', sequence_number: this.#number + 1, code, message, param: null });
  }

  /** Returns the text that replaces the event. Throws AnswerBlocked. */
  *push(event: ServerSentEvent): Steps<string> {
    const { data, raw } = event;
    if (data === null) return raw;
    const value = jsonOf(data);
    if (!isMembers(value)) return this.#left() + (yield* this.#other(data, value, event));
    const { type } = value;
    if (Array.isArray(value['choices'])) return yield* this.#chunk(value, value['choices'], event);
    if (typeof type === 'string' && type.startsWith('response.')) return yield* this.#responseEvent(value, type, event);
    if (typeof type === 'string' && /^(?:message|content_block)_/.test(type))
      return yield* this.#messageEvent(value, type, event);
    return this.#unlessChanged(yield* rewriteTexts(value, this.#guarding.whole), event, () => typedEvent(value));
  }

  /** Passes an unchanged event on as it came, unless it repeats a member: only the last one was checked. */
  #unlessChanged(isChanged: boolean, { data, raw }: ServerSentEvent, anew: () => string): string {
    return isChanged || repeatsName(Buffer.from(data ?? '')) ? anew() : raw;
  }

  /** Data that are not a JSON object: a list, or a text. */
  *#other(data: string, value: unknown, event: ServerSentEvent): Steps<string> {
    const { raw } = event;
    if (data === DONE) return raw;
    if (Array.isArray(value)) {
      return this.#unlessChanged(yield* rewriteTexts(value, this.#guarding.whole), event, () => dataEvent(value));
    }
    const rewritten = yield* this.#guarding.whole(data, value !== null);
    return rewritten === data ? raw : `data: ${rewritten.replaceAll('\n', '\ndata: ')}\n\n`;
  }

  /** The stream has ended. */
  end(): string {
    return this.#left();
  }

  *#piece(key: string, piece: string, isJson: boolean): Steps<string> {
    const stream = this.#streams.get(key) ?? this.#guarding.begin(isJson);
    this.#streams.set(key, stream);
    return yield* stream.push(piece);
  }

  /** Returns the rest of a text that has ended. */
  #rest(key: string): string {
    const rest = this.#streams.get(key)?.end() ?? '';
    this.#streams.delete(key);
    return rest;
  }

  // --- chat completions

  *#chunk(value: Members, choices: unknown[], event: ServerSentEvent): Steps<string> {
    this.#surface = 'chat';
    const { id, object, created, model } = value;
    this.#head = { id, object, created, model };
    const pieces: Steps<boolean>[] = [];
    let isChanged = false;
    for (const choice of choices) {
      if (!isMembers(choice)) continue;
      const { delta } = choice;
      isChanged = dropLogprobs(choice) || isChanged;
      if (!isMembers(delta)) continue;
      // Pieces are held back: a piece alone is not checked.
      for (const { path, text, isJson, replace } of deltaPieces(delta)) {
        replace('');
        const put = this.#deltaPiece(choiceKey(choice), path, text, isJson);
        pieces.push(replaced(put, text, replace));
      }
    }
    isChanged = (yield* rewriteTexts(value, this.#guarding.whole)) || isChanged;
    for (const put of pieces) isChanged = (yield* put) || isChanged;
    for (const choice of choices) {
      if (!isMembers(choice) || typeof choice['finish_reason'] !== 'string') continue;
      const delta = isMembers(choice['delta']) ? choice['delta'] : {};
      if (!this.#addRests(choiceKey(choice), delta)) continue;
      choice['delta'] = delta;
      isChanged = true;
    }
    return this.#unlessChanged(isChanged, event, () => dataEvent(value));
  }

  *#deltaPiece(choice: string, path: DeltaPath, text: string, isJson: boolean): Steps<string> {
    const key = `${choice} ${path.join(' ')}`;
    this.#paths.set(key, path);
    return yield* this.#piece(key, text, isJson);
  }

  /** Puts the rests of a choice's texts into its last delta. Reports whether there are any. */
  #addRests(choice: string, delta: Members): boolean {
    let hasRest = false;
    for (const key of [...this.#streams.keys()].filter((each) => each.startsWith(`${choice} `))) {
      const rest = this.#rest(key);
      const path = this.#paths.get(key);
      if (rest === '' || !path) continue;
      addRest(delta, path, rest);
      hasRest = true;
    }
    return hasRest;
  }

  /** Returns the rests of choices without an end. */
  #left(): string {
    const choices = new Set([...this.#streams.keys()].flatMap((key) => /^choice \S+/.exec(key) ?? []));
    return [...choices]
      .map((choice) => {
        const delta: Members = {};
        if (!this.#addRests(choice, delta)) return '';
        const index = Number(choice.slice('choice '.length));
        return dataEvent({ ...this.#head, choices: [{ index, delta, finish_reason: null }] });
      })
      .join('');
  }

  // --- responses

  *#responseEvent(value: Members, type: string, event: ServerSentEvent): Steps<string> {
    this.#surface = 'responses';
    const number = plainNumber(value['sequence_number']);
    if (typeof number === 'number') {
      this.#number = number + this.#added;
      if (this.#added > 0) value['sequence_number'] = this.#number;
    }
    const isChanged = dropLogprobs(value) || this.#added > 0;
    const part = value['content_index'] ?? value['summary_index'];
    const key = `${placeOf(value['item_id'])} ${placeOf(part)} ${type.replace(/\.(?:delta|done)$/, '')}`;
    const { delta } = value;
    if (type.endsWith('.delta') && typeof delta === 'string' && !isSpeech(type, delta)) {
      value['delta'] = '';
      const isRewritten = yield* rewriteTexts(value, this.#guarding.whole);
      value['delta'] = yield* this.#piece(key, delta, JSON_DELTA.test(type));
      const hasChanged = isChanged || isRewritten || value['delta'] !== delta;
      return this.#unlessChanged(hasChanged, event, () => typedEvent(value));
    }
    const rest = type.endsWith('.done') ? this.#rest(key) : '';
    const isRewritten = yield* rewriteTexts(value, this.#guarding.whole);
    if (rest === '') return this.#unlessChanged(isChanged || isRewritten, event, () => typedEvent(value));
    const { item_id, output_index, content_index, summary_index } = value;
    const sequence_number = plainNumber(value['sequence_number']);
    const before = type.replace(/\.done$/, '.delta');
    // Members that the event lacks are undefined, and so not written.
    const added = { type: before, sequence_number, item_id, output_index, content_index, summary_index, delta: rest };
    this.#added++;
    if (typeof sequence_number === 'number') value['sequence_number'] = sequence_number + 1;
    return typedEvent(added) + typedEvent(value);
  }

  // --- messages

  *#messageEvent(value: Members, type: string, event: ServerSentEvent): Steps<string> {
    this.#surface = 'messages';
    const key = `block ${placeOf(value['index'])}`;
    const { delta } = value;
    const pieces: Steps<boolean>[] = [];
    if (type === 'content_block_delta' && isMembers(delta)) {
      for (const name of ['text', 'thinking', 'partial_json']) {
        const piece = get(delta, name);
        if (typeof piece !== 'string') continue;
        delta[name] = '';
        const put = this.#piece(`${key} ${name}`, piece, name === 'partial_json');
        pieces.push(
          replaced(put, piece, (text) => {
            delta[name] = text;
          }),
        );
      }
    }
    const isRewritten = yield* rewriteTexts(value, this.#guarding.whole);
    let arePieces = false;
    for (const put of pieces) arePieces = (yield* put) || arePieces;
    const rest = type === 'content_block_stop' ? this.#blockRest(key, value['index']) : '';
    return rest + this.#unlessChanged(isRewritten || arePieces, event, () => typedEvent(value));
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

/** Returns whether the text has changed. */
function* replaced(steps: Steps<string>, text: string, replace: (text: string) => void): Steps<boolean> {
  const rewritten = yield* steps;
  replace(rewritten);
  return rewritten !== text;
}

function choiceKey({ index }: Members): string {
  return `choice ${placeOf(index)}`;
}

/** An index or an id, as part of a key. */
function placeOf(value: unknown): string {
  const place = plainNumber(value);
  return typeof place === 'number' || typeof place === 'string' ? String(place) : 'none';
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

/** Reports whether it is sound in Base64; anything else of that type is text. */
function isSpeech(type: string, delta: string): boolean {
  return (
    /^response\.(?:output_)?audio\.delta$/.test(type) && fileText({ type }, 'delta', delta, null, '')?.kind === 'binary'
  );
}

function jsonOf(data: string): unknown {
  try {
    return parseAsWritten(data);
  } catch {
    return null;
  }
}
