/** Reads messages: whole, and out of the events of a stream. */

import { get, type ServerSentEvent } from '../../../../kit.ts';
import type { Block, Message, MessageEvent, StopReason } from '../conversation/conversation.ts';
import { incompleteStream, type ProviderError, ReportedError } from '../conversation/provider-failure.ts';
import { type MessageCounts, messageUsage, NO_COUNTS, totalOf, type Usage } from '../conversation/usage.ts';
import { jsonOf, notValid, stopWith, textOf } from './answer-parts.ts';

/** Throws ReportedError if a provider reports an error in place of an answer. */
export function refuseReport(value: unknown): void {
  if (get(value, 'error')) throw new ReportedError(messageError(value, null));
}

/** Throws ProviderFailure if it is not a message, and ReportedError if it is an error. */
export function readMessage(value: unknown): Message {
  refuseReport(value);
  const content = get(value, 'content');
  if (!Array.isArray(content)) throw notValid('it has no content');
  return {
    id: textOf(value, 'id'),
    model: textOf(value, 'model'),
    blocks: content.flatMap(blockOf),
    stop: stopWith(
      content.some((block) => get(block, 'type') === 'tool_use'),
      stopOf(get(value, 'stop_reason')),
    ),
    usage: totalOf(messageUsage(get(value, 'usage'))),
  };
}

/** The calls that a provider makes itself have no place in the surfaces, nor has thinking that it has encrypted. */
function blockOf(block: unknown): readonly Block[] {
  const type = get(block, 'type');
  if (type === 'text') return [{ type, text: textOf(block, 'text') }];
  if (type === 'thinking') return [{ type, text: textOf(block, 'thinking') }];
  if (type !== 'tool_use') return [];
  const input = JSON.stringify(get(block, 'input') ?? {});
  return [{ type: 'call', id: textOf(block, 'id'), name: textOf(block, 'name'), input }];
}

/** Returns null if there is no stop reason. */
function stopIn(delta: unknown): StopReason | null {
  const reason = get(delta, 'stop_reason');
  return typeof reason === 'string' ? stopOf(reason) : null;
}

function stopOf(reason: unknown): StopReason {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'tool_use':
      return 'tools';
    case 'refusal':
      return 'refusal';
    default:
      return 'end';
  }
}

/** Statuses of errors, which events name without a status. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** `status`: of the answer that it is the body of; null: it came in an event. */
export function messageError(value: unknown, status: number | null): ProviderError {
  const error = get(value, 'error');
  const [type, message] = [get(error, 'type'), get(error, 'message')];
  const code = typeof type === 'string' ? type : null;
  return {
    status: status ?? STATUSES[code ?? ''] ?? 500,
    message: typeof message === 'string' ? message : 'The provider refused the request.',
    code,
  };
}

/** Member of a delta that has the piece of a block. */
const PIECES = { text: 'text', thinking: 'thinking', call: 'partial_json' } as const;

/** One stream of events. */
export class MessageEvents {
  #counts: MessageCounts = NO_COUNTS;
  /** Null until the provider has said it. */
  #stop: StopReason | null = null;
  #hasCalls = false;
  /** The open block; null between blocks, and in one that is not passed on. */
  #block: { readonly type: keyof typeof PIECES; written: boolean } | null = null;
  #started = false;
  #ended = false;

  /** Tokens counted so far. */
  get usage(): Usage | null {
    return this.#started ? totalOf(this.#counts) : null;
  }

  /** The message has begun. */
  get started(): boolean {
    return this.#started;
  }

  /** The stream has come to its end. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Throws ReportedError for the provider's own errors, and ProviderFailure if it is not a stream of Messages events.
   */
  read({ data }: ServerSentEvent): readonly MessageEvent[] {
    if (data === null || this.#ended) return [];
    const value = jsonOf(data);
    switch (get(value, 'type')) {
      case 'message_start':
        return this.#start(get(value, 'message'));
      case 'content_block_start':
        return this.#open(get(value, 'content_block'));
      case 'content_block_delta':
        return this.#piece(get(value, 'delta'));
      case 'content_block_stop':
        return this.#close();
      case 'message_delta':
        this.#stop = stopIn(get(value, 'delta')) ?? this.#stop;
        this.#counts = messageUsage(get(value, 'usage'), this.#counts);
        return [];
      case 'message_stop':
        this.#stop ??= 'end';
        return this.end();
      case 'error':
        throw new ReportedError(messageError(value, null));
      default:
        // `ping`, and future events: clients must ignore unknown ones.
        return [];
    }
  }

  #start(message: unknown): readonly MessageEvent[] {
    if (this.#started) throw notValid('it begins twice');
    this.#started = true;
    this.#counts = messageUsage(get(message, 'usage'));
    return [{ type: 'start', id: textOf(message, 'id'), model: textOf(message, 'model') }];
  }

  #open(block: unknown): readonly MessageEvent[] {
    if (!this.#started || this.#block !== null) throw notValid('a block begins inside another block');
    const type = get(block, 'type');
    if (type === 'text' || type === 'thinking') {
      this.#block = { type, written: true };
      const text = get(block, type);
      const first: MessageEvent[] = typeof text === 'string' && text !== '' ? [{ type: 'piece', text }] : [];
      return [{ type }, ...first];
    }
    if (type !== 'tool_use') return [];
    this.#hasCalls = true;
    this.#block = { type: 'call', written: false };
    return [{ type: 'call', id: textOf(block, 'id'), name: textOf(block, 'name') }];
  }

  #piece(delta: unknown): readonly MessageEvent[] {
    const block = this.#block;
    if (block === null) return [];
    const text = get(delta, PIECES[block.type]);
    if (typeof text !== 'string' || text === '') return [];
    block.written = true;
    return [{ type: 'piece', text }];
  }

  #close(): readonly MessageEvent[] {
    const block = this.#block;
    if (block === null) return [];
    this.#block = null;
    const end: MessageEvent = { type: 'block-end' };
    // A call without input comes without pieces, but clients parse its input.
    return block.written ? [end] : [{ type: 'piece', text: '{}' }, end];
  }

  /** Some providers end their streams without `message_stop` behind the reason why the model stopped. */
  end(): readonly MessageEvent[] {
    if (this.#ended) return [];
    if (!this.#started || this.#block !== null || this.#stop === null) throw incompleteStream();
    this.#ended = true;
    return [{ type: 'end', stop: stopWith(this.#hasCalls, this.#stop), usage: totalOf(this.#counts) }];
  }
}
