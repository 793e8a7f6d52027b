/** What becomes of an answer: its texts are rewritten, or it is withheld. */
import type { JsonObject } from '../../../artifact/format.ts';
import { RequestSlot } from '../../../capability/request-slot.ts';
import { changeHeader, type Exchange, headerOf, type RequestPart, type ResponseSink } from '../../../exchange.ts';
import { nestsTooDeeply } from '../../../json/nesting.ts';
import { isObject } from '../../../spec/json.ts';
import { type AiRefused, refused } from '../../ai/conversation/refusal.ts';
import type { PiiAction } from '../pii/pii-rules.ts';
import { Profiles } from '../profiles.ts';
import { AnswerBlocked, type AnswerRules, answerRules, type FindingKind, GuardedText } from './answer-rules.ts';
import { rewriteTexts } from './answer-texts.ts';
import { eventsTap, GuardedStream, jsonTap } from './guarded-body.ts';
import type { Guarding } from './guarded-events.ts';

export interface AnswerEvents {
  log(level: 'info' | 'warn', message: string, x: Exchange): void;
  found(kind: FindingKind, action: PiiAction): void;
}

type Tap = (sink: ResponseSink) => ResponseSink;

/** What sees the body of one answer, for all guards of its chain. */
class AnswerTap implements RequestPart {
  readonly stored = null;
  readonly logged = '';
  readonly owner: object | null;
  readonly tap: Tap;

  constructor(owner: object | null, tap: Tap) {
    this.owner = owner;
    this.tap = tap;
  }

  finished(): void {}
}

const slot = new RequestSlot<AnswerTap>();
const EVENTS = /^text\/event-stream\s*(;|$)/i;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(;|$)/i;

export class AnswerGuard {
  readonly #profiles: Profiles<AnswerRules>;
  readonly #events: AnswerEvents;

  /** Throws where the config cannot be used. */
  constructor(config: JsonObject, events: AnswerEvents) {
    this.#profiles = new Profiles(
      config,
      (settings) => answerRules(settings, config['hash_key']),
      (message, x) => events.log('warn', message, x),
    );
    this.#events = events;
  }

  /** Null where the answer goes on, rewritten as it may be. `owner`: whose place in the chain the guard has. */
  check(x: Exchange, owner: object | null): AiRefused | null {
    const { name, settings } = this.#profiles.of(x);
    const type = headerOf(x.responseHeaders, 'content-type') ?? '';
    const isEvents = EVENTS.test(type);
    if (x.responseStatus >= 300 || (!isEvents && !JSON_TYPE.test(type))) return null;
    if (settings.pii.isEmpty && settings.blocked.isEmpty) return null;
    const encoding = headerOf(x.responseHeaders, 'content-encoding') ?? 'identity';
    if (encoding !== 'identity') return unreadable(`its encoding is ${encoding}`);
    const blocked = (why: string) => this.#blocked(x, name, why);
    const guarding = this.#guarding(settings);
    changeHeader(x.responseHeaders, 'remove', 'content-length', '');
    if (x.responseStreams) this.#tap(x, owner, isEvents, guarding, blocked);
    else if (isEvents) x.responseBody = wholeStream(textOf(x), new GuardedStream(guarding, blocked));
    else return this.#whole(x, guarding, blocked);
    return null;
  }

  #tap(x: Exchange, owner: object | null, isEvents: boolean, guarding: Guarding, blocked: (why: string) => void): void {
    const tap: Tap = (sink) => {
      if (isEvents) return eventsTap(x, new GuardedStream(guarding, blocked), sink);
      return jsonTap(x, (body) => rewritten(body.toString(), guarding) ?? body.toString(), sink);
    };
    const inner = slot.of(x);
    slot.set(
      x,
      inner === null ? new AnswerTap(owner, tap) : new AnswerTap(inner.owner, (sink) => inner.tap(tap(sink))),
    );
  }

  #whole(x: Exchange, guarding: Guarding, blocked: (why: string) => void): AiRefused | null {
    try {
      const body = rewritten(textOf(x), guarding);
      if (body !== null) x.responseBody = body;
      return null;
    } catch (error) {
      if (!(error instanceof AnswerBlocked)) throw error;
      blocked(error.message);
      return refused('forbidden', 'response_blocked', 'The answer has text that a policy does not allow.');
    }
  }

  #blocked(x: Exchange, profile: string, why: string): void {
    if (!why.startsWith('pii.')) this.#events.found('pattern', 'block');
    this.#events.log('info', `withheld by the profile ${JSON.stringify(profile)}: ${why}`, x);
  }

  #guarding(rules: AnswerRules): Guarding {
    const begin = (isJson: boolean) =>
      new GuardedText(rules, isJson, (kind, action) => this.#events.found(kind, action));
    return {
      begin,
      whole(text, isJson) {
        const guarded = begin(isJson);
        return guarded.push(text) + guarded.end();
      },
    };
  }
}

function unreadable(why: string): AiRefused {
  return refused('upstream-failed', 'response_not_checked', `The answer cannot be checked: ${why}.`);
}

function textOf({ responseBody: body }: Exchange): string {
  if (typeof body === 'string') return body;
  return body === null ? '' : Buffer.from(body).toString();
}

function wholeStream(text: string, guarded: GuardedStream): string {
  return guarded.push(text) + guarded.end();
}

/** Null where it is no object of JSON. Throws AnswerBlocked. */
function rewritten(text: string, guarding: Guarding): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  if (nestsTooDeeply(value)) throw new AnswerBlocked('it is nested too deep to be checked');
  rewriteTexts(value, guarding.whole);
  return JSON.stringify(value);
}
