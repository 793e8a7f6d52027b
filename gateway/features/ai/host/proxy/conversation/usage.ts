/** Tokens that a provider has counted, in the forms of its protocols. */
import { get, plainNumber } from '../../../../kit.ts';

export interface Usage {
  readonly prompt: number;
  readonly completion: number;
  /** Prompt tokens that the provider had in its cache. */
  readonly cached: number;
  /** Completion tokens of the model's reasoning. */
  readonly reasoning: number;
  /**
   * Prompt tokens that the provider has written to its cache, and of these the ones that it keeps for an hour. Default:
   * 0.
   */
  readonly written?: number;
  readonly writtenLong?: number;
}

/** Usage for clients if the provider has counted nothing, and the form has a place for it. */
export const UNCOUNTED: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

/** Reads `usage` of a chat completion, or of one of its chunks; null if it is malformed. */
export function chatUsage(usage: unknown): Usage | null {
  return usageOf(usage, 'prompt', 'completion');
}

/** `usage` of a response. */
export function responseUsage(usage: unknown): Usage | null {
  return usageOf(usage, 'input', 'output');
}

/** Usage of a response of a realtime session, in which text and audio are told apart. */
export interface RealtimeUsage extends Usage {
  /** Audio tokens of the prompt, and of the completion. */
  readonly promptAudio: number;
  readonly completionAudio: number;
}

/** Reads `usage` of such a response; null if it is malformed. */
export function realtimeUsage(usage: unknown): RealtimeUsage | null {
  const [sent, received] = [tokens(usage, 'input_tokens'), tokens(usage, 'output_tokens')];
  if (sent === null || received === null) return null;
  const [input, output] = [get(usage, 'input_token_details'), get(usage, 'output_token_details')];
  return sane({
    prompt: sent,
    completion: received,
    cached: tokens(input, 'cached_tokens') ?? 0,
    reasoning: tokens(output, 'reasoning_tokens') ?? 0,
    promptAudio: tokens(input, 'audio_tokens') ?? 0,
    completionAudio: tokens(output, 'audio_tokens') ?? 0,
  });
}

/** `usage` of a batch, which has many requests. */
export function batchUsage(usage: unknown): Usage | null {
  return usageOf(usage, 'input', 'output', MOST_TOKENS_OF_BATCH);
}

function usageOf(usage: unknown, prompt: string, completion: string, most = MOST_TOKENS): Usage | null {
  const [sent, received] = [tokens(usage, `${prompt}_tokens`), tokens(usage, `${completion}_tokens`)];
  if (sent === null && received === null) return null;
  const counted = {
    prompt: sent ?? 0,
    completion: received ?? 0,
    cached: tokens(get(usage, `${prompt}_tokens_details`), 'cached_tokens') ?? 0,
    reasoning: tokens(get(usage, `${completion}_tokens_details`), 'reasoning_tokens') ?? 0,
    written: tokens(get(usage, `${prompt}_tokens_details`), 'cache_write_tokens') ?? 0,
  };
  return sane(counted, most);
}

/** Returns null for impossible counts, as if the provider had counted nothing: then the length of the texts counts. */
function sane<U extends Usage>(usage: U, most = MOST_TOKENS): U | null {
  const isCounted = usage.prompt + usage.completion > 0;
  return isCounted && Object.values(usage).every((each) => each <= most) ? usage : null;
}

/**
 * Reads `usage` of a message, in which cached tokens are not among those of the input. Counts that the last event of a
 * stream leaves out are those of `before`.
 */
export function messageUsage(usage: unknown, before: MessageCounts = NO_COUNTS): MessageCounts {
  return {
    input: tokens(usage, 'input_tokens') ?? before.input,
    created: tokens(usage, 'cache_creation_input_tokens') ?? before.created,
    createdLong: tokens(get(usage, 'cache_creation'), 'ephemeral_1h_input_tokens') ?? before.createdLong,
    read: tokens(usage, 'cache_read_input_tokens') ?? before.read,
    output: tokens(usage, 'output_tokens') ?? before.output,
    thinking: tokens(get(usage, 'output_tokens_details'), 'thinking_tokens') ?? before.thinking,
  };
}

export interface MessageCounts {
  readonly input: number;
  readonly created: number;
  /** Those of them that are kept for an hour. */
  readonly createdLong: number;
  readonly read: number;
  readonly output: number;
  readonly thinking: number;
}

export const NO_COUNTS: MessageCounts = { input: 0, created: 0, createdLong: 0, read: 0, output: 0, thinking: 0 };

/** Returns null if the provider has counted nothing, or reports impossible counts. */
export function totalOf({ input, created, createdLong, read, output, thinking }: MessageCounts): Usage | null {
  return sane({
    ...{ prompt: input + created + read, completion: output, cached: read, reasoning: thinking },
    ...{ written: created, writtenLong: createdLong },
  });
}

/** Limit for one request; no model reads or writes as many. */
const MOST_TOKENS = 1e9;
/** A file has 50,000 requests at most. */
const MOST_TOKENS_OF_BATCH = 1e12;

/** Returns null if the member is absent; NaN if it is not a count, which makes the usage malformed. */
function tokens(object: unknown, name: string): number | null {
  const value = plainNumber(get(object, name) ?? null);
  if (value === null) return null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}
