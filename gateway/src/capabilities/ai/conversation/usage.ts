/** Tokens that a provider has counted, in the forms of its protocols. */
import { get } from '../../../spec/json.ts';

export interface Usage {
  readonly prompt: number;
  readonly completion: number;
  /** Those of the prompt that the provider had in its cache. */
  readonly cached: number;
  /** Those of the completion that the model thought with. */
  readonly reasoning: number;
}

/** `usage` of a chat completion, or of one of its chunks; null where it is none. */
export function chatUsage(usage: unknown): Usage | null {
  return usageOf(usage, 'prompt', 'completion');
}

/** `usage` of a response. */
export function responseUsage(usage: unknown): Usage | null {
  return usageOf(usage, 'input', 'output');
}

function usageOf(usage: unknown, prompt: string, completion: string): Usage | null {
  const [sent, received] = [tokens(usage, `${prompt}_tokens`), tokens(usage, `${completion}_tokens`)];
  if (sent === null && received === null) return null;
  return {
    prompt: sent ?? 0,
    completion: received ?? 0,
    cached: tokens(get(usage, `${prompt}_tokens_details`), 'cached_tokens') ?? 0,
    reasoning: tokens(get(usage, `${completion}_tokens_details`), 'reasoning_tokens') ?? 0,
  };
}

/**
 * `usage` of a message: there, tokens that the cache gave or took are not among those of the input. Of a stream's last
 * count, what it leaves out is as `before` has it.
 */
export function messageUsage(usage: unknown, before: MessageCounts = NO_COUNTS): MessageCounts {
  return {
    input: tokens(usage, 'input_tokens') ?? before.input,
    created: tokens(usage, 'cache_creation_input_tokens') ?? before.created,
    read: tokens(usage, 'cache_read_input_tokens') ?? before.read,
    output: tokens(usage, 'output_tokens') ?? before.output,
    thinking: tokens(get(usage, 'output_tokens_details'), 'thinking_tokens') ?? before.thinking,
  };
}

export interface MessageCounts {
  readonly input: number;
  readonly created: number;
  readonly read: number;
  readonly output: number;
  readonly thinking: number;
}

export const NO_COUNTS: MessageCounts = { input: 0, created: 0, read: 0, output: 0, thinking: 0 };

export function totalOf({ input, created, read, output, thinking }: MessageCounts): Usage {
  return { prompt: input + created + read, completion: output, cached: read, reasoning: thinking };
}

function tokens(object: unknown, name: string): number | null {
  const value = get(object, name);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
