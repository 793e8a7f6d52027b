/** The events of a stream, of whatever surface, with the texts in them rewritten. */
import type { ServerSentEvent } from '../../../server-sent-events.ts';
import { get } from '../../../spec/json.ts';
import { isMembers, type Rewrite, rewriteTexts } from './answer-texts.ts';

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

const DELTAS = ['content', 'refusal', 'reasoning', 'reasoning_content'];
/** Deltas of a response whose text is JSON. */
const JSON_DELTA = /arguments|tool_call_input|\.code\./;

export class GuardedEvents {
  readonly #guarding: Guarding;
  readonly #streams = new Map<string, TextStream>();
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
      return typedEvent({ type: 'error', error: { type: 'permission_error', message } }, 'error');
    }
    if (this.#surface === 'chat') return dataEvent({ error: { message, type: 'permission_error', param: null, code } });
    return typedEvent({ type: 'error', sequence_number: this.#number + 1, code, message, param: null }, 'error');
  }

  /** What goes on in its place. Throws AnswerBlocked. */
  push({ data, raw }: ServerSentEvent): string {
    if (data === null) return raw;
    const value = jsonOf(data);
    if (!isMembers(value)) return this.#left() + raw;
    const { type } = value;
    if (Array.isArray(value['choices'])) return this.#chunk(value, value['choices']);
    if (typeof type === 'string' && type.startsWith('response.')) return this.#responseEvent(value, type);
    if (typeof type === 'string' && /^(?:message|content_block)_/.test(type)) return this.#messageEvent(value, type);
    return raw;
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
    for (const choice of choices) {
      if (!isMembers(choice)) continue;
      const { delta, index } = choice;
      if (get(choice, 'logprobs')) choice['logprobs'] = null;
      if (isMembers(delta)) this.#delta(delta, `choice ${index}`);
      if (typeof choice['finish_reason'] === 'string') {
        choice['delta'] = this.#ended(`choice ${index}`, isMembers(delta) ? delta : {});
      }
    }
    return dataEvent(value);
  }

  #delta(delta: Members, choice: string): void {
    for (const name of DELTAS) {
      const piece = get(delta, name);
      if (typeof piece === 'string') delta[name] = this.#piece(`${choice} ${name}`, piece, false);
    }
    const calls = get(delta, 'tool_calls');
    for (const call of Array.isArray(calls) ? calls : []) {
      const called = get(call, 'function');
      const piece = get(called, 'arguments');
      if (!isMembers(called) || typeof piece !== 'string') continue;
      called['arguments'] = this.#piece(`${choice} call ${get(call, 'index')}`, piece, true);
    }
  }

  /** The last delta of a choice, with what is left of its texts. */
  #ended(choice: string, delta: Members): Members {
    const calls: unknown[] = [];
    for (const key of [...this.#streams.keys()].filter((each) => each.startsWith(`${choice} `))) {
      const rest = this.#rest(key);
      const name = key.slice(choice.length + 1);
      if (rest === '') continue;
      if (name.startsWith('call ')) calls.push({ index: Number(name.slice(5)), function: { arguments: rest } });
      else delta[name] = `${typeof delta[name] === 'string' ? delta[name] : ''}${rest}`;
    }
    if (calls.length === 0) return delta;
    const before = get(delta, 'tool_calls');
    return { ...delta, tool_calls: [...(Array.isArray(before) ? before : []), ...calls] };
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
    if (get(value, 'logprobs')) value['logprobs'] = [];
    const part = value['content_index'] ?? value['summary_index'];
    const key = `${String(value['item_id'])} ${String(part)} ${type.replace(/\.(?:delta|done)$/, '')}`;
    const { delta } = value;
    if (type.endsWith('.delta') && typeof delta === 'string') {
      value['delta'] = this.#piece(key, delta, JSON_DELTA.test(type));
      return typedEvent(value, type);
    }
    const rest = type.endsWith('.done') ? this.#rest(key) : '';
    rewriteTexts(value, this.#guarding.whole);
    for (const name of ['part', 'item', 'response']) rewriteTexts(value[name], this.#guarding.whole);
    if (rest === '') return typedEvent(value, type);
    const { item_id, output_index, content_index, summary_index, sequence_number } = value;
    const before = type.replace(/\.done$/, '.delta');
    // Those that the event has not are undefined, and so not written.
    const added = { type: before, sequence_number, item_id, output_index, content_index, summary_index, delta: rest };
    this.#added++;
    if (typeof sequence_number === 'number') value['sequence_number'] = sequence_number + 1;
    return typedEvent(added, before) + typedEvent(value, type);
  }

  // --- messages

  #messageEvent(value: Members, type: string): string {
    this.#surface = 'messages';
    const key = `block ${String(value['index'])}`;
    const { delta } = value;
    if (type === 'content_block_delta' && isMembers(delta)) {
      for (const name of ['text', 'thinking', 'partial_json']) {
        const piece = get(delta, name);
        if (typeof piece === 'string') delta[name] = this.#piece(`${key} ${name}`, piece, name === 'partial_json');
      }
    }
    if (type === 'content_block_start' || type === 'message_start') {
      for (const name of ['content_block', 'message']) rewriteTexts(value[name], this.#guarding.whole);
    }
    const rest = type === 'content_block_stop' ? this.#blockRest(key, value['index']) : '';
    return rest + typedEvent(value, type);
  }

  #blockRest(key: string, index: unknown): string {
    const deltas = { text: 'text_delta', thinking: 'thinking_delta', partial_json: 'input_json_delta' };
    return Object.entries(deltas)
      .map(([name, type]) => {
        const rest = this.#rest(`${key} ${name}`);
        if (rest === '') return '';
        return typedEvent({ type: 'content_block_delta', index, delta: { type, [name]: rest } }, 'content_block_delta');
      })
      .join('');
  }
}

function dataEvent(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function typedEvent(value: object, type: string): string {
  return `event: ${type}\ndata: ${JSON.stringify(value)}\n\n`;
}

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
