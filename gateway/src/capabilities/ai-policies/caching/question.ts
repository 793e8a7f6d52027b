/** The question of a request: the parts that must be equal to share an answer (docs/decisions.md#ai-cache-key). */

import { type Exchange, headerOf } from '../../../exchange.ts';
import { isWrittenNumber, numberText, plainNumber } from '../../../json/exact-json.ts';
import { get, isObject, type Obj } from '../../../spec/json.ts';
import { BETA } from '../../ai/surfaces/messages.ts';
import { type SurfaceName, surfaceOf } from '../../ai/surfaces/surface-of.ts';
import { digest } from '../../cache/cache-key.ts';
import type { AiCacheSettings } from './cache-settings.ts';

/** A change of what is stored, or of what a key is made of, has another number. */
const VERSION = 2;

/** Of a request: they change nothing of its answer. Those of responses are repeated there, and so are part of the question. */
const ABOUT_THE_CALLER = ['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention'];
/** The provider holds part of its meaning, or answers it later. */
const ELSEWHERE = ['previous_response_id', 'conversation', 'background', 'container'];

export interface Question {
  readonly surface: Exclude<SurfaceName, 'models' | 'realtime' | 'counting'>;
  readonly isStream: boolean;
  /** Whose answers it may have. */
  readonly partition: string;
  readonly request: Obj;
  /** Parts of the key besides the request. */
  readonly place: readonly string[];
}

/** Why it is not looked for, in a token for `Cache-Status`. */
export type Uncached = 'no-question' | 'sampled' | 'state-at-provider' | 'no-consumer';

export function questionOf(x: Exchange, request: Obj, settings: AiCacheSettings): Question | Uncached {
  const surface = surfaceOf(x.path);
  if (x.method !== 'POST' || surface === 'models' || surface === 'realtime' || surface === 'counting')
    return 'no-question';
  if (typeof get(request, 'model') !== 'string') return 'no-question';
  const temperature = plainNumber(get(request, 'temperature'));
  if (typeof temperature === 'number' && temperature > 0 && !settings.sampled) return 'sampled';
  if (ELSEWHERE.some((name) => isSet(get(request, name)))) return 'state-at-provider';
  const consumer = headerOf(x.headers, 'x-auth-consumer') ?? '';
  if (settings.share === 'consumer' && consumer === '') return 'no-consumer';
  const partition = settings.share === 'all' ? '' : consumer;
  const { operation, context } = x;
  const place = [
    ...[settings.id, operation?.api ?? '', operation?.path ?? '', x.path, surface, settings.share, partition],
    // What other middlewares have chosen: who is asked, and what is done to prompt and answer.
    ...[context?.get('ai.target') ?? '', context?.get('ai.policy') ?? ''],
    headerOf(x.headers, BETA) ?? '',
  ];
  return { surface, isStream: get(request, 'stream') === true, partition, request, place };
}

/** Of its answer. */
export function keyOf(question: Question): string {
  return `ai-cache:${VERSION}:${digestOf(question, question.request)}`;
}

/** Of the questions whose requests are the same but for the words of the last message: `rest` is the request without them. */
export function indexKeyOf(question: Question, rest: Obj): string {
  return `ai-cache:${VERSION}:index:${digestOf(question, rest)}`;
}

function digestOf({ surface, isStream, place }: Question, request: Obj): string {
  const asked = Object.fromEntries(Object.entries(request).filter(([name]) => counts(name, surface, isStream)));
  return digest(JSON.stringify([...place, isStream, canonical(asked)]));
}

function counts(name: string, surface: SurfaceName, isStream: boolean): boolean {
  if (name === 'stream') return false;
  if (name === 'stream_options') return isStream;
  return surface === 'responses' || !ABOUT_THE_CALLER.includes(name);
}

/** As canonical JSON, with as many digits of a number as there are: what differs in the twentieth is another question. */
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
