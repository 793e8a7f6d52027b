/** Reads chat completions: whole, and out of the chunks of a stream. */

import { get, isObject, type ServerSentEvent } from '../../../../kit.ts';
import type { Block, Message, MessageEvent, StopReason } from '../conversation/conversation.ts';
import { incompleteStream, type ProviderError, ReportedError } from '../conversation/provider-failure.ts';
import { chatUsage, type Usage } from '../conversation/usage.ts';
import { jsonOf, notValid, stopWith, textOf } from './answer-parts.ts';

/** Throws ProviderFailure if it is not a completion, and ReportedError if it is an error. */
export function checkCompletion(value: unknown): void {
  refuseError(value);
  const choices = listOf(get(value, 'choices'));
  if (choices.length === 0) throw notValid('it has no choice');
  if (!choices.every((choice) => isObject(get(choice, 'message')))) throw notValid('a choice has no message');
}

/** Throws ReportedError if an answer, a chunk or one of its choices reports an error, whatever else it holds. */
export function refuseError(value: unknown): void {
  const failed = [value, ...listOf(get(value, 'choices'))].find((each) => get(each, 'error'));
  if (failed !== undefined) throw new ReportedError(completionError(failed, reportedStatus(get(failed, 'error'))));
  if (listOf(get(value, 'choices')).some((choice) => get(choice, 'finish_reason') === 'error')) {
    throw notValid('a choice ends with an error');
  }
}

/** Some providers say in `code` which status the answer would have had. */
function reportedStatus(error: unknown): number {
  const code = get(error, 'code');
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600 ? code : 500;
}

/** Throws as `checkCompletion` does. */
export function readCompletion(value: unknown): Message {
  checkCompletion(value);
  const choice = firstOf(get(value, 'choices'));
  const message = get(choice, 'message');
  const [content, refusal] = [contentOf(message), optionalText(message, 'refusal')];
  const reason = refusal === '' ? stopOf(get(choice, 'finish_reason')) : 'refusal';
  const usage = chatUsage(get(value, 'usage'));
  const text = content + refusal;
  const calls = listOf(get(message, 'tool_calls')).flatMap((call) => callOf(call, reason));
  const stop = stopWith(calls.length > 0, reason);
  return {
    id: textOf(value, 'id'),
    model: textOf(value, 'model'),
    blocks: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls],
    stop,
    usage,
  };
}

/** Text, or the texts in a list of parts. */
function contentOf(said: unknown): string {
  const content = get(said, 'content');
  return typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => optionalText(part, 'text'))
        .join('');
}

/** Returns no block if the token limit has cut the input of the call. */
function callOf(call: unknown, stop: StopReason): readonly Block[] {
  const called = get(call, 'function');
  const input = optionalText(called, 'arguments').trim() || '{}';
  if (!isInput(input)) {
    if (stop === 'length') return [];
    throw notValid('the arguments of a call are not a JSON object');
  }
  return [{ type: 'call', id: textOf(call, 'id'), name: textOf(called, 'name'), input }];
}

function isInput(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

const STOPS: Readonly<Record<string, StopReason>> = {
  length: 'length',
  tool_calls: 'tools',
  function_call: 'tools',
  content_filter: 'refusal',
};

function stopOf(reason: unknown): StopReason {
  return (typeof reason === 'string' ? STOPS[reason] : undefined) ?? 'end';
}

/** `status`: of the answer that it is the body of. */
export function completionError(value: unknown, status: number): ProviderError {
  const error = get(value, 'error');
  const message = get(error, 'message') ?? get(value, 'message') ?? error;
  return {
    status,
    message: typeof message === 'string' ? message : 'The provider refused the request.',
    // The provider's codes differ from those of the surface that it is translated to.
    code: null,
  };
}

/** A text or a call of a stream, which is reported when all before it have ended. */
interface Item {
  /** Place of a call among the calls; null for a text. */
  readonly index: number | string | null;
  readonly id: string;
  readonly name: string;
  /** Pieces not yet reported. */
  pieces: string[];
  /** No text of it has come. */
  isEmpty: boolean;
}

/** Characters that are held of items behind the first one. */
const MOST_HELD = 4 << 20;

/** One stream of chunks. */
export class CompletionChunks {
  #usage: Usage | null = null;
  #stop: StopReason | null = null;
  #refused = false;
  /** The first one is reported as it comes; pieces of others may come in between, and are held. */
  #items: Item[] = [];
  #isOpen = false;
  #held = 0;
  #hasCalls = false;
  #started = false;
  #ended = false;

  /** Tokens counted so far. */
  get usage(): Usage | null {
    return this.#usage;
  }

  /** Throws ReportedError if the provider reports an error, and ProviderFailure if the stream does not consist of chunks. */
  read({ data }: ServerSentEvent): readonly MessageEvent[] {
    if (data === null || this.#ended) return [];
    if (data.trim() === '[DONE]') return this.end();
    const chunk = jsonOf(data);
    refuseError(chunk);
    this.#usage = chatUsage(get(chunk, 'usage')) ?? this.#usage;
    const choice = firstOf(get(chunk, 'choices'));
    const begun = this.#begin(chunk);
    this.#delta(get(choice, 'delta'));
    const reason = get(choice, 'finish_reason') || null;
    if (reason !== null) this.#stop = stopOf(reason);
    return [...begun, ...this.#told()];
  }

  /** Some providers end their streams without saying so behind the end of the choice. */
  end(): readonly MessageEvent[] {
    if (this.#ended) return [];
    if (!this.#started || this.#stop === null) throw incompleteStream();
    this.#ended = true;
    const stop = this.#refused ? 'refusal' : stopWith(this.#hasCalls, this.#stop);
    const told: MessageEvent[] = [];
    while (this.#items.length > 0) told.push(...this.#told(), ...this.#close());
    return [...told, { type: 'end', stop, usage: this.#usage }];
  }

  #begin(chunk: unknown): readonly MessageEvent[] {
    if (this.#started) return [];
    this.#started = true;
    return [{ type: 'start', id: textOf(chunk, 'id'), model: textOf(chunk, 'model') }];
  }

  #delta(delta: unknown): void {
    const refusal = optionalText(delta, 'refusal');
    if (refusal !== '') this.#refused = true;
    this.#text(contentOf(delta) + refusal);
    for (const call of listOf(get(delta, 'tool_calls'))) this.#call(call);
  }

  #text(text: string): void {
    if (text === '') return;
    const last = this.#items.at(-1);
    this.#add(last?.index === null ? last : this.#open(null, '', ''), text);
  }

  #call(call: unknown): void {
    const called = get(call, 'function');
    const id = optionalText(call, 'id');
    const index = get(call, 'index') ?? (id || this.#lastCall?.index) ?? 0;
    if (typeof index !== 'number' && typeof index !== 'string') throw notValid('a call has no index');
    const known = this.#items.findLast((each) => each.index === index);
    // Some providers have one index for all calls: then each begins with an id of its own, and a name.
    const isNew = known === undefined || (id !== '' && id !== known.id && optionalText(called, 'name') !== '');
    this.#hasCalls = true;
    const item = isNew ? this.#open(index, textOf(call, 'id'), textOf(called, 'name')) : known;
    this.#add(item, optionalText(called, 'arguments'));
  }

  get #lastCall(): Item | undefined {
    return this.#items.findLast(({ index }) => index !== null);
  }

  #open(index: Item['index'], id: string, name: string): Item {
    const item = { index, id, name, pieces: [], isEmpty: true };
    this.#items.push(item);
    return item;
  }

  #add(item: Item, text: string): void {
    if (text === '') return;
    item.pieces.push(text);
    item.isEmpty = false;
    if (item !== this.#items[0]) this.#held += text.length;
    if (this.#held > MOST_HELD) throw notValid(`calls at once have more than ${MOST_HELD} characters`);
  }

  /**
   * Returns the new events of the first item. A text ends when another item follows; a call may go on until the stream
   * ends.
   */
  #told(): readonly MessageEvent[] {
    const [first, next] = this.#items;
    if (first === undefined) return [];
    const { index, id, name, pieces } = first;
    const begun: MessageEvent[] = this.#isOpen ? [] : [index === null ? { type: 'text' } : { type: 'call', id, name }];
    this.#isOpen = true;
    first.pieces = [];
    const told = [...begun, ...pieces.map((text): MessageEvent => ({ type: 'piece', text }))];
    if (index !== null || next === undefined) return told;
    return [...told, ...this.#close(), ...this.#told()];
  }

  #close(): readonly MessageEvent[] {
    const first = this.#items.shift();
    if (first === undefined) return [];
    this.#isOpen = false;
    const end: MessageEvent = { type: 'block-end' };
    return first.isEmpty && first.index !== null ? [{ type: 'piece', text: '{}' }, end] : [end];
  }
}

function firstOf(list: unknown): unknown {
  return listOf(list)[0] ?? null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function optionalText(object: unknown, name: string): string {
  const value = get(object, name);
  return typeof value === 'string' ? value : '';
}
