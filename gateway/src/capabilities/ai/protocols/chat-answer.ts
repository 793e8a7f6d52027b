/** Reads chat completions: whole, and out of the chunks of a stream. */
import type { ServerSentEvent } from '../../../server-sent-events.ts';
import { get, isObject } from '../../../spec/json.ts';
import type { Block, Message, MessageEvent, StopReason } from '../conversation/conversation.ts';
import { type ProviderError, ReportedError } from '../conversation/provider-failure.ts';
import { chatUsage, type Usage } from '../conversation/usage.ts';
import { jsonOf, notValid, textOf } from './answer-parts.ts';

/** Throws ProviderFailed where it is no completion, and ReportedError for an error in its place. */
export function checkCompletion(value: unknown): void {
  refuseError(value);
  const choices = listOf(get(value, 'choices'));
  if (choices.length === 0) throw notValid('it has no choice');
  if (!choices.every((choice) => isObject(get(choice, 'message')))) throw notValid('a choice has no message');
}

/** Throws ReportedError where an answer, a chunk or one of its choices reports an error, whatever it has beside. */
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
  const [content, refusal] = [optionalText(message, 'content'), optionalText(message, 'refusal')];
  const stop = refusal === '' ? stopOf(get(choice, 'finish_reason')) : 'refusal';
  const usage = chatUsage(get(value, 'usage'));
  const text = content + refusal;
  const calls = listOf(get(message, 'tool_calls')).flatMap((call) => callOf(call, stop));
  return {
    id: textOf(value, 'id'),
    model: textOf(value, 'model'),
    blocks: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls],
    stop,
    usage,
  };
}

/** The input of a call that the limit of tokens has cut is none. */
function callOf(call: unknown, stop: StopReason): readonly Block[] {
  const called = get(call, 'function');
  const input = optionalText(called, 'arguments').trim() || '{}';
  if (!isInput(input)) {
    if (stop === 'length') return [];
    throw notValid('the arguments of a call are no JSON object');
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
    // Its codes are none of the surface that it is translated to.
    code: null,
  };
}

/** One stream of chunks. */
export class CompletionChunks {
  #usage: Usage | null = null;
  #stop: StopReason | null = null;
  #refused = false;
  /** Of the block that has begun: a call by its index. */
  #block: { readonly call: number | null; written: boolean } | null = null;
  #started = false;
  #ended = false;

  /** As counted so far. */
  get usage(): Usage | null {
    return this.#usage;
  }

  /** The stream has come to its end. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Throws ReportedError for the provider's own, and ProviderFailed where the stream is none of chunks. */
  read({ data }: ServerSentEvent): readonly MessageEvent[] {
    if (data === null || this.#ended) return [];
    if (data.trim() === '[DONE]') return this.#end();
    const chunk = jsonOf(data);
    refuseError(chunk);
    this.#usage = chatUsage(get(chunk, 'usage')) ?? this.#usage;
    const choice = firstOf(get(chunk, 'choices'));
    const begun = this.#begin(chunk);
    const pieces = this.#delta(get(choice, 'delta'));
    const reason = get(choice, 'finish_reason') ?? null;
    if (reason !== null) this.#stop = stopOf(reason);
    return [...begun, ...pieces];
  }

  #begin(chunk: unknown): readonly MessageEvent[] {
    if (this.#started) return [];
    this.#started = true;
    return [{ type: 'start', id: textOf(chunk, 'id'), model: textOf(chunk, 'model') }];
  }

  #delta(delta: unknown): readonly MessageEvent[] {
    const refusal = optionalText(delta, 'refusal');
    if (refusal !== '') this.#refused = true;
    const said = this.#text(optionalText(delta, 'content') + refusal);
    return [...said, ...listOf(get(delta, 'tool_calls')).flatMap((call) => this.#call(call))];
  }

  #text(text: string): readonly MessageEvent[] {
    if (text === '') return [];
    const before = this.#block?.call === null ? [] : [...this.#close(), { type: 'text' as const }];
    this.#block = { call: null, written: true };
    return [...before, { type: 'piece', text }];
  }

  #call(call: unknown): readonly MessageEvent[] {
    const index = get(call, 'index') ?? 0;
    if (typeof index !== 'number') throw notValid('a call has no index');
    const called = get(call, 'function');
    const before = this.#block?.call === index ? [] : this.#open(call, index);
    const text = optionalText(called, 'arguments');
    if (text === '') return before;
    if (this.#block !== null) this.#block.written = true;
    return [...before, { type: 'piece', text }];
  }

  /** Calls come one after another: one that goes on behind the next has no name there. */
  #open(call: unknown, index: number): readonly MessageEvent[] {
    const closed = this.#close();
    this.#block = { call: index, written: false };
    return [...closed, { type: 'call', id: textOf(call, 'id'), name: textOf(get(call, 'function'), 'name') }];
  }

  #close(): readonly MessageEvent[] {
    const block = this.#block;
    if (block === null) return [];
    this.#block = null;
    const end: MessageEvent = { type: 'block-end' };
    return block.written ? [end] : [{ type: 'piece', text: '{}' }, end];
  }

  #end(): readonly MessageEvent[] {
    if (!this.#started || this.#stop === null) throw notValid('it ends where it cannot');
    this.#ended = true;
    const stop = this.#refused ? 'refusal' : this.#stop;
    return [...this.#close(), { type: 'end', stop, usage: this.#usage }];
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
