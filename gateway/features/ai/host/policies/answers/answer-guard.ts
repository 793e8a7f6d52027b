/** Guards an answer: rewrites its texts, or withholds it. */

import {
  changeHeader,
  type Exchange,
  headerOf,
  type JsonObject,
  type RequestPart,
  RequestSlot,
  type Steps,
} from '../../../../kit.ts';
import { type AiRefusal, refusal } from '../../proxy/conversation/refusal.ts';
import { type FilesRequest, filesRequest, filesUnsupported } from '../../proxy/files/files-request.ts';
import { allowsFiles } from '../files-rule.ts';
import type { PiiAction } from '../pii/pii-rules.ts';
import { Profiles } from '../profiles.ts';
import { AnswerBlocked, type AnswerRules, answerRules, type FindingKind, GuardedText } from './answer-rules.ts';
import type { Guarding } from './guarded-events.ts';
import { type AnswerForm, type AnswerSink, formOf, rewriteWhole, rewritingTap } from './rewritten-answer.ts';

export interface AnswerEvents {
  log(level: 'info' | 'warn', message: string, exchange: Exchange): void;
  countFinding(kind: FindingKind, action: PiiAction): void;
}

/** Taps the body of one answer, for all guards of its chain. */
class AnswerTap implements RequestPart {
  readonly stored = null;
  readonly logged = '';
  readonly owner: object | null;
  readonly tap: AnswerSink;

  constructor(owner: object | null, tap: AnswerSink) {
    this.owner = owner;
    this.tap = tap;
  }

  finished(): void {}
}

const slot = new RequestSlot<AnswerTap>();

export class AnswerGuard {
  readonly #profiles: Profiles<AnswerRules>;
  readonly #events: AnswerEvents;
  readonly #allowsFiles: boolean;

  /** Throws if the config cannot be used. */
  constructor(config: JsonObject, events: AnswerEvents) {
    this.#profiles = new Profiles(
      config,
      (settings) => answerRules(settings, config['hash_key']),
      (message, exchange) => events.log('warn', message, exchange),
    );
    this.#events = events;
    this.#allowsFiles = allowsFiles(config);
  }

  /**
   * Returns null if the answer goes on, rewritten or not. Yields if it can pause. `owner`: identifies the guard's place
   * in the chain.
   */
  *check(exchange: Exchange, owner: object | null): Steps<AiRefusal | null> {
    const request = filesRequest(exchange);
    if (request !== null) return this.#ofFiles(exchange, request);
    const { name, settings } = this.#profiles.of(exchange);
    const form = formOf(exchange);
    if (form === null) return null;
    if (settings.pii.isEmpty && settings.blocked.isEmpty) return null;
    const encoding = headerOf(exchange.response.headers, 'content-encoding') ?? 'identity';
    if (encoding !== 'identity') return unreadable(`its encoding is ${encoding}`);
    const blocked = (why: string) => this.#blocked(exchange, name, why);
    const guarding = this.#guarding(settings);
    changeHeader(exchange.response.headers, 'remove', 'content-length', '');
    if (!exchange.response.streams) return yield* this.#whole(exchange, form, guarding, blocked);
    this.#tap(exchange, owner, rewritingTap(exchange, form, guarding, blocked));
    return null;
  }

  /** Answers to the requests in a file are lines of another, which is not read here. */
  #ofFiles(exchange: Exchange, { operation, surface }: FilesRequest): AiRefusal | null {
    const hasAnswers = operation === 'content' && exchange.response.status < 300;
    return hasAnswers && !this.#allowsFiles ? filesUnsupported(surface) : null;
  }

  #tap(exchange: Exchange, owner: object | null, tap: AnswerSink): void {
    const inner = slot.of(exchange);
    slot.set(
      exchange,
      inner === null ? new AnswerTap(owner, tap) : new AnswerTap(inner.owner, (sink) => inner.tap(tap(sink))),
    );
  }

  *#whole(
    exchange: Exchange,
    form: AnswerForm,
    guarding: Guarding,
    blocked: (why: string) => void,
  ): Steps<AiRefusal | null> {
    try {
      yield* rewriteWhole(exchange, form, guarding, blocked);
      return null;
    } catch (error) {
      if (!(error instanceof AnswerBlocked)) throw error;
      blocked(error.message);
      return refusal('forbidden', 'response_blocked', 'The answer has text that a policy does not allow.');
    }
  }

  #blocked(exchange: Exchange, profile: string, why: string): void {
    if (!why.startsWith('pii.')) this.#events.countFinding('pattern', 'block');
    this.#events.log('info', `withheld by the profile ${JSON.stringify(profile)}: ${why}`, exchange);
  }

  #guarding(rules: AnswerRules): Guarding {
    const begin = (isJson: boolean) =>
      new GuardedText(rules, isJson, (kind, action) => this.#events.countFinding(kind, action));
    return {
      begin,
      *whole(text, isJson) {
        const guarded = begin(isJson);
        return (yield* guarded.push(text)) + guarded.end();
      },
    };
  }
}

function unreadable(why: string): AiRefusal {
  return refusal('upstream-failed', 'response_not_checked', `The answer cannot be checked: ${why}.`);
}
