/** The question of a request: the parts that must be equal to share an answer (docs/decisions.md#ai-cache-key). */

import { digest } from '../../../../cache/host/cache-key.ts';
import {
  type Exchange,
  get,
  headerOf,
  isObject,
  isWrittenNumber,
  numberText,
  type Obj,
  plainNumber,
} from '../../../../kit.ts';
import { BETA } from '../../proxy/surfaces/messages.ts';
import { type SurfaceName, surfaceOf } from '../../proxy/surfaces/surface-of.ts';
import type { AiCacheSettings } from './cache-settings.ts';

/** Increased with each change of stored values or of the parts of a key. */
const VERSION = 2;

/**
 * Members of a request that do not affect its answer. Responses repeat theirs, and so they are part of the question.
 */
const ABOUT_THE_CALLER = ['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention'];
/** The provider holds part of its meaning, or answers it later. */
const ELSEWHERE = ['previous_response_id', 'conversation', 'background', 'container'];

export interface Question {
  readonly surface: Exclude<SurfaceName, 'models' | 'realtime' | 'counting'>;
  readonly isStream: boolean;
  /** Owner of the answers that it may have. */
  readonly partition: string;
  readonly request: Obj;
  /** Parts of the key besides the request. */
  readonly place: readonly string[];
}

/** Reasons for not looking for an answer, as tokens for `Cache-Status`. */
export type Uncached = 'no-question' | 'sampled' | 'state-at-provider' | 'no-consumer';

export function questionOf(exchange: Exchange, request: Obj, settings: AiCacheSettings): Question | Uncached {
  const surface = surfaceOf(exchange.path);
  if (exchange.method !== 'POST' || surface === 'models' || surface === 'realtime' || surface === 'counting')
    return 'no-question';
  if (typeof get(request, 'model') !== 'string') return 'no-question';
  const temperature = plainNumber(get(request, 'temperature'));
  if (typeof temperature === 'number' && temperature > 0 && !settings.sampled) return 'sampled';
  if (ELSEWHERE.some((name) => isSet(get(request, name)))) return 'state-at-provider';
  const consumer = headerOf(exchange.headers, 'x-auth-consumer') ?? '';
  if (settings.share === 'consumer' && consumer === '') return 'no-consumer';
  const partition = settings.share === 'all' ? '' : consumer;
  const { operation, context } = exchange;
  const place = [
    ...[settings.id, operation?.api ?? '', operation?.path ?? '', exchange.path, surface, settings.share, partition],
    // Choices of other middlewares: the target, and the policy for prompt and answer.
    ...[context?.get('ai.target') ?? '', context?.get('ai.policy') ?? ''],
    headerOf(exchange.headers, BETA) ?? '',
  ];
  return { surface, isStream: get(request, 'stream') === true, partition, request, place };
}

/** Returns the key of its answer. */
export function keyOf(question: Question): string {
  return `ai-cache:${VERSION}:${digestOf(question, question.request)}`;
}

/**
 * Returns the key of questions with equal requests except for the words of the last message: `rest` is the request
 * without them.
 */
export function indexKeyOf(question: Question, rest: Obj): string {
  return `ai-cache:${VERSION}:index:${digestOf(question, rest)}`;
}

function digestOf({ surface, isStream, place }: Question, request: Obj): string {
  const relevant = Object.fromEntries(Object.entries(request).filter(([name]) => counts(name, surface, isStream)));
  return digest(JSON.stringify([...place, isStream, canonical(relevant)]));
}

function counts(name: string, surface: SurfaceName, isStream: boolean): boolean {
  if (name === 'stream') return false;
  if (name === 'stream_options') return isStream;
  return surface === 'responses' || !ABOUT_THE_CALLER.includes(name);
}

/** Returns canonical JSON with all digits of numbers: a difference in the twentieth makes another question. */
function canonical(value: unknown): string {
  if (isWrittenNumber(value)) return numberText(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(',')}}`;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}
