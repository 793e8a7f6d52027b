/**
 * Estimates uncounted tokens: of a request before it is sent, and of answers whose provider does not count. By the
 * length of texts (docs/decisions.md#ai-estimates).
 */

import {
  type Answer,
  type Exchange,
  get,
  inTurns,
  isObject,
  isWrittenNumber,
  type Obj,
  plainNumber,
  type RequestPart,
  RequestSlot,
  type Steps,
} from '../../../kit.ts';
import { visitMember } from './request/json-texts.ts';
import { PROTOCOL_NAMES } from './request/known-words.ts';
import { MESSAGE_LISTS, OTHER_PROMPT_MEMBERS } from './request/prompt-members.ts';
import { type SurfaceName, surfaceOf } from './surfaces/surface-of.ts';

/** Bytes of UTF-8 of a token: about four letters, or a character of Chinese and a third. */
const TOKEN = 4;
/** Tokens of a message besides its text. */
const MESSAGE = 4;
/** Tokens that a picture or a file counts as, of any size. */
const FILE = 1_000;
const ASKED: ReadonlySet<string> = new Set([...MESSAGE_LISTS, ...OTHER_PROMPT_MEMBERS]);
/** Limits on the completion by surface: servers ignore those of another one. */
const LIMITS: Readonly<Record<SurfaceName, readonly string[]>> = {
  chat: ['max_completion_tokens', 'max_tokens'],
  messages: ['max_tokens'],
  responses: ['max_output_tokens'],
  realtime: ['max_output_tokens'],
  embeddings: [],
  counting: [],
  models: [],
};
/** More choices than any provider makes. */
const MOST_CHOICES = 128;

const slot = new RequestSlot<TokenEstimate>();

/** Made if a policy asks for it; then streams are estimated, too. */
export class TokenEstimate implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly logged = '';
  readonly prompt: number;
  /** The request's limit on the completion; null if it has none. */
  readonly limit: number | null;
  #bytes = 0;

  private constructor(path: string, request: Obj, prompt: number) {
    this.prompt = prompt;
    const surface = surfaceOf(path);
    this.limit = HAS_NO_COMPLETION.has(surface) ? 0 : limitOf(request, LIMITS[surface]);
  }

  static of(exchange: Exchange): TokenEstimate | null {
    return slot.of(exchange);
  }

  /** Takes turns with other requests. Rejects if the client has gone meanwhile. */
  static async begin(exchange: Exchange, request: Obj): Promise<TokenEstimate> {
    const known = slot.of(exchange);
    if (known !== null) return known;
    const prompt = await inTurns(promptTokens(request), () => !exchange.closed);
    const made = new TokenEstimate(exchange.path, request, prompt);
    slot.set(exchange, made);
    return made;
  }

  /** Tokens of the answer so far. */
  get completion(): number {
    return Math.ceil(this.#bytes / TOKEN);
  }

  /** An event of a stream of any protocol has come; each of its bytes is a character of `data`. */
  streamed(data: string): void {
    this.#bytes += pieceLength(data);
  }

  /** A whole answer has come, of so many bytes. */
  answered(bytes: number): void {
    this.#bytes += bytes;
  }

  finished(): void {}
}

const HAS_NO_COMPLETION: ReadonlySet<SurfaceName> = new Set(['embeddings', 'counting']);

/** Values between two pauses. */
const SLICE = 1_024;

/**
 * Counts text, names of members, and numbers, each of which is a token in the input of embeddings. Without recursion;
 * yields if it can pause.
 */
export function* promptTokens(request: Obj): Steps<number> {
  const asked = Object.keys(request).filter((name) => ASKED.has(name) || !PROTOCOL_NAMES.has(name));
  const values: unknown[] = asked.map((name) => get(request, name));
  let [bytes, tokens] = [0, 0];
  for (const name of ['messages', 'input']) {
    const list = get(request, name);
    if (Array.isArray(list)) tokens += MESSAGE * list.filter(isObject).length;
  }
  for (let counted = 1; values.length > 0; counted++) {
    if (counted % SLICE === 0) yield;
    const value = values.pop();
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
    else if (typeof value === 'number' || isWrittenNumber(value)) tokens++;
    else if (Array.isArray(value)) for (const each of value) values.push(each);
    else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        bytes += name.length;
        values.push(each);
      }
    }
  }
  const file = (value: string) => {
    tokens += FILE;
    bytes -= value.length;
  };
  for (const name of asked) yield* visitMember(request, name, { text: () => {}, file });
  return tokens + Math.ceil(bytes / TOKEN);
}

/** The answer to a request for a count, in turns with other requests, if the provider of its model cannot count. */
export async function estimateCount(request: Obj): Promise<Answer> {
  const tokens = await inTurns(promptTokens(request), () => true);
  const warning = '299 gw "the tokens were estimated by the length of texts"';
  return {
    status: 200,
    headers: ['content-type', 'application/json', 'warning', warning],
    body: JSON.stringify({ input_tokens: tokens }),
  };
}

function limitOf(request: Obj, names: readonly string[]): number | null {
  const limits = names.map((name) => plainNumber(get(request, name))).filter((each) => isCount(each));
  if (limits.length === 0) return null;
  const choices = plainNumber(get(request, 'n'));
  return Math.max(...limits) * (isCount(choices) ? Math.min(choices, MOST_CHOICES) : 1);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

/** Returns the bytes of a model's output in an event: text, reasoning, arguments of calls. */
function pieceLength(data: string): number {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch {
    return 0;
  }
  const delta = get(event, 'delta');
  const choices = get(event, 'choices');
  const deltas = Array.isArray(choices) ? choices.map((choice) => get(choice, 'delta')) : [];
  return textLength(delta) + deltas.reduce<number>((sum, each) => sum + textLength(each), 0);
}

/** One of `content`, `text`, `partial_json`, `arguments` of a call, and the like. */
function textLength(value: unknown, depth = DEEPEST): number {
  if (typeof value === 'string') return value.length;
  if (depth === 0) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + textLength(each, depth - 1), 0);
  if (!isObject(value)) return 0;
  const members = Object.entries(value).filter(([name]) => !LABELS.has(name));
  return members.reduce((sum, [, each]) => sum + textLength(each, depth - 1), 0);
}

/** `tool_calls[0].function.arguments` */
const DEEPEST = 4;

const LABELS = new Set(['role', 'type', 'id', 'name', 'index', 'signature', 'stop_reason', 'stop_sequence']);
