/**
 * A request to a model and its answer, as no protocol writes them: surfaces read requests into it and write answers out
 * of it, protocols the other way round, so that each surface speaks to each protocol.
 */

import type { JsonNumber, Obj } from '../../../../kit.ts';
import type { Effort } from './effort.ts';
import type { Usage } from './usage.ts';

export type Source =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string };

/** The provider is asked to keep the prompt up to here (`cache_control`), in the client's words. Absent: no mark. */
export interface Cached {
  readonly cache?: Obj;
}

export interface TextPart extends Cached {
  readonly type: 'text';
  readonly text: string;
}

export type Part =
  | TextPart
  | ({ readonly type: 'image'; readonly source: Source } & Cached)
  | ({ readonly type: 'document'; readonly source: Source; readonly name: string | null } & Cached);

export interface ToolCall extends Cached {
  readonly id: string;
  readonly name: string;
  readonly input: Obj;
}

export type Turn =
  | { readonly role: 'user'; readonly parts: readonly Part[] }
  /** Instructions that hold from there on. */
  | { readonly role: 'system'; readonly text: readonly TextPart[] }
  | { readonly role: 'assistant'; readonly text: readonly TextPart[]; readonly calls: readonly ToolCall[] }
  /** The result of a tool call. */
  | ({ readonly role: 'tool'; readonly callId: string; readonly parts: readonly Part[] } & Cached);

export interface Tool extends Cached {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of its input; null if it takes no input. */
  readonly schema: Obj | null;
  /** Calls match the schema exactly. */
  readonly strict: boolean;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** The form of the answer's text. */
export type Format = { readonly type: 'json' } | { readonly type: 'schema'; readonly schema: Obj };

/** `cache`: wherever the provider thinks best. */
export interface Conversation extends Cached {
  readonly model: string;
  readonly stream: boolean;
  /** Messages of system and developer, in their order. */
  readonly instructions: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** Null: the provider's default. So for all that follow. */
  readonly toolChoice: ToolChoice | null;
  /** False: one tool call a turn. */
  readonly parallelCalls: boolean;
  readonly maxTokens: number | null;
  readonly temperature: JsonNumber | null;
  readonly topP: JsonNumber | null;
  readonly stop: readonly string[];
  /** Id of the end user, for the provider's abuse detection. */
  readonly user: string | null;
  readonly format: Format | null;
  /** How much the model thinks before it answers. */
  readonly effort: Effort | null;
  /** The client wants to see the model's reasoning. */
  readonly showsThinking: boolean;
}

/** Reasons for which a model stops. */
export type StopReason = 'end' | 'length' | 'tools' | 'refusal';

export type Block =
  | { readonly type: 'text'; readonly text: string }
  /** The model's reasoning, or a summary of it; empty if the provider withholds it. */
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: string };

/** A whole answer. */
export interface Message {
  readonly id: string;
  /** Name from the provider: often more exact than the requested one. */
  readonly model: string;
  readonly blocks: readonly Block[];
  readonly stop: StopReason;
  /** Null if the provider has counted nothing. */
  readonly usage: Usage | null;
}

/** An answer as it comes. Blocks follow one another: each begins, has its pieces and ends before the next begins. */
export type MessageEvent =
  | { readonly type: 'start'; readonly id: string; readonly model: string }
  | { readonly type: 'text' }
  | { readonly type: 'thinking' }
  | { readonly type: 'call'; readonly id: string; readonly name: string }
  /** A piece of the text, or of the call's input as JSON text. */
  | { readonly type: 'piece'; readonly text: string }
  | { readonly type: 'block-end' }
  | { readonly type: 'end'; readonly stop: StopReason; readonly usage: Usage | null };
