/** Limits prompts by length and content. */

import { changeHeader, type Exchange, headerOf, type Json, type JsonObject, type Steps } from '../../../../kit.ts';
import { AiRefusal, aiProblem, refusal } from '../../proxy/conversation/refusal.ts';
import type { TextPlace } from '../../proxy/request/json-texts.ts';
import { parsedRequest, rewriteRequest } from '../../proxy/request/parsed-request.ts';
import { AnswerBlocked } from '../answers/answer-rules.ts';
import type { Guarding } from '../answers/guarded-events.ts';
import { type AnswerForm, formOf, rewriteWhole, rewritingTap } from '../answers/rewritten-answer.ts';
import { BlockedPatterns } from '../blocked-patterns.ts';
import { type FilesRule, filesRule } from '../files-rule.ts';
import { PII_KINDS, type PiiKind } from '../pii/kinds.ts';
import { type PiiReplacing, PiiRules } from '../pii/pii-rules.ts';
import { PiiScanner } from '../pii/pii-scanner.ts';
import { numberOf, type Profile, Profiles, textsOf } from '../profiles.ts';
import { type Prompt, promptOf } from './prompt.ts';
import { RESTORED_PROMPT, RestorableRules, RestoredPrompt, type Restoring } from './restored-prompt.ts';
import { restoring } from './restored-text.ts';

/** Reasons for refusing a prompt; values of a metric's label. */
export const BLOCK_REASONS = ['messages', 'characters', 'pattern', 'pii', 'steps', 'tokens'] as const;
type BlockReason = (typeof BLOCK_REASONS)[number];

interface PromptLimits {
  readonly maxMessages: number | null;
  readonly maxCharacters: number | null;
  readonly blocked: BlockedPatterns;
  readonly pii: PiiRules;
  /** Null: values are not restored. */
  readonly restoring: Restoring | null;
}

export interface GuardEvents {
  log(level: 'info' | 'warn', message: string, exchange: Exchange): void;
  countBlock(reason: BlockReason): void;
}

export class PromptGuard {
  readonly #profiles: Profiles<PromptLimits>;
  readonly #events: GuardEvents;
  readonly files: FilesRule;

  /** Throws if the config cannot be used. */
  constructor(config: JsonObject, events: GuardEvents) {
    this.#profiles = new Profiles(
      config,
      (settings) => limitsOf(settings, config['hash_key']),
      (message, exchange) => events.log('warn', message, exchange),
    );
    this.#events = events;
    this.files = filesRule(config);
  }

  /**
   * Returns null if the prompt passes. `owner`: identifies the guard's place in the chain. Throws AiRefusal if the body
   * is malformed. Yields if it can pause.
   */
  *check(exchange: Exchange, owner: object | null): Generator<undefined, AiRefusal | null> {
    const profile = this.#profiles.of(exchange);
    const request = parsedRequest(exchange);
    const prompt = yield* promptOf(request);
    const refusal =
      this.#unreadable(exchange, profile, prompt) ??
      this.#tooLong(exchange, profile, prompt) ??
      (yield* this.#blocked(exchange, profile, prompt));
    if (refusal !== null || profile.settings.pii.isEmpty) return refusal;
    const { pii, restoring: restored } = profile.settings;
    const restorable =
      restored && new RestorableRules(pii, restored, headerOf(exchange.headers, 'x-auth-consumer') ?? '');
    const { isChanged, blocked } = yield* replacePii(prompt, restorable ?? pii);
    if (blocked !== null) {
      const detail = 'The prompt has personal data that a policy does not allow.';
      return this.#refuse(exchange, profile, {
        reason: 'pii',
        code: 'prompt_blocked',
        detail,
        where: `pii.${blocked}`,
      });
    }
    if (isChanged) rewriteRequest(exchange, request);
    if (restorable !== null && restorable.values.size > 0) keep(exchange, owner, restorable.values);
    return null;
  }

  /**
   * Runs in the response hook: puts the values taken out of the prompt back, for the client that sent it. Returns null
   * if the answer goes on.
   */
  *restore(exchange: Exchange, owner: object | null): Steps<AiRefusal | null> {
    const kept = RESTORED_PROMPT.of(exchange);
    const form = kept === null || kept.owner !== owner ? null : formOf(exchange);
    const isPlain = (headerOf(exchange.response.headers, 'content-encoding') ?? 'identity') === 'identity';
    if (kept === null || form === null || !isPlain) return null;
    changeHeader(exchange.response.headers, 'remove', 'content-length', '');
    const guarding = restoring(kept.values);
    const unread = (why: string) =>
      this.#events.log('warn', `nothing more is put back into the answer: ${why}`, exchange);
    if (exchange.response.streams) kept.tap = rewritingTap(exchange, form, guarding, unread);
    else return yield* restoreWhole(exchange, form, guarding, unread);
    return null;
  }

  /** Texts as token ids pass only if no rule reads texts. */
  #unreadable(exchange: Exchange, profile: Profile<PromptLimits>, { hasTokenIds }: Prompt): AiRefusal | null {
    const { maxCharacters, blocked, pii } = profile.settings;
    if (!hasTokenIds || (maxCharacters === null && blocked.isEmpty && pii.isEmpty)) return null;
    const detail = 'A policy checks texts, and the prompt has ids of tokens. Send it as text.';
    return this.#refuse(exchange, profile, { reason: 'tokens', code: 'prompt_not_checked', detail });
  }

  #tooLong(exchange: Exchange, profile: Profile<PromptLimits>, { messages, spoken }: Prompt): AiRefusal | null {
    const { maxMessages, maxCharacters } = profile.settings;
    if (maxMessages !== null && messages > maxMessages) {
      const detail = `The conversation has ${messages} messages; at most ${maxMessages} are allowed.`;
      return this.#refuse(exchange, profile, { reason: 'messages', code: 'too_many_messages', detail });
    }
    if (maxCharacters === null) return null;
    const characters = spoken.flat().reduce((sum, { text }) => sum + text.length, 0);
    if (characters <= maxCharacters) return null;
    const detail = `The prompt has ${characters} characters; at most ${maxCharacters} are allowed.`;
    return this.#refuse(exchange, profile, { reason: 'characters', code: 'prompt_too_long', detail });
  }

  *#blocked(
    exchange: Exchange,
    profile: Profile<PromptLimits>,
    prompt: Prompt,
  ): Generator<undefined, AiRefusal | null> {
    const { blocked } = profile.settings;
    if (blocked.isEmpty) return null;
    const seen = new Set<string>();
    for (const text of readingsOfPrompt(prompt)) {
      if (seen.has(text)) continue;
      seen.add(text);
      const found = yield* blocked.find(text);
      if (found === 'steps') {
        const detail = 'The prompt takes too long to check. Make it shorter.';
        return this.#refuse(exchange, profile, { reason: 'steps', code: 'prompt_not_checked', detail });
      }
      if (found !== null) {
        const detail = 'The prompt has text that a policy does not allow.';
        const where = `blocked_patterns[${found.pattern}]`;
        return this.#refuse(exchange, profile, { reason: 'pattern', code: 'prompt_blocked', detail, where });
      }
    }
    return null;
  }

  /** The log names the pattern; the client is not told. */
  #refuse(exchange: Exchange, { name }: Profile<unknown>, { reason, code, detail, where = reason }: Block): AiRefusal {
    this.#events.countBlock(reason);
    this.#events.log('info', `refused by the profile ${JSON.stringify(name)}: ${where}`, exchange);
    return refusal('validation-failed', code, detail);
  }
}

/** Of several guards of a chain, the first restores the values that all of them have taken out. */
function keep(exchange: Exchange, owner: object | null, values: Map<string, string>): void {
  const kept = RESTORED_PROMPT.of(exchange);
  if (kept === null) RESTORED_PROMPT.set(exchange, new RestoredPrompt(owner, values));
  else
    for (const [placeholder, value] of values) if (!kept.values.has(placeholder)) kept.values.set(placeholder, value);
}

/** A value can be longer than its placeholder, and an answer can repeat it. */
function* restoreWhole(
  exchange: Exchange,
  form: AnswerForm,
  guarding: Guarding,
  unread: (why: string) => void,
): Steps<AiRefusal | null> {
  const before = exchange.response.body?.length ?? 0;
  try {
    yield* rewriteWhole(exchange, form, guarding, unread);
  } catch (error) {
    if (!(error instanceof AnswerBlocked)) throw error;
    unread(error.message);
  }
  const more = (exchange.response.body?.length ?? 0) - before;
  if (more <= 0 || exchange.holdMore(more)) return null;
  return new AiRefusal(aiProblem('overloaded', null, 'The gateway has no room for the answer. Try again.'));
}

interface Block {
  readonly reason: BlockReason;
  readonly code: string;
  readonly detail: string;
  /** For the log. */
  readonly where?: string;
}

/** All texts that patterns are matched with; a text can come more than once. */
function* readingsOfPrompt({ spoken, rows, labels }: Prompt): Iterable<string> {
  for (const places of spoken) yield* readingsOf(places);
  for (const row of rows) yield* joinSaid(row);
  yield* labels;
}

/** Returns the texts, and the parts joined, since models read them so: all of them, and those around pictures. */
function readingsOf(places: readonly TextPlace[]): readonly string[] {
  const texts = places.map(({ text }) => text);
  return texts.length > 1 ? [...texts, texts.join(''), texts.join(' '), ...joinSaid(places)] : texts;
}

/** Joins what is said, with spaces and without. */
function joinSaid(places: readonly TextPlace[]): readonly string[] {
  const texts = places.filter(({ isSaid }) => isSaid).map(({ text }) => text);
  return [texts.join(''), texts.join(' ')];
}

/** Replaces personal data as the rules say; `blocked`: the kind for which the prompt is refused. */
function* replacePii(
  { spoken }: Prompt,
  rules: PiiReplacing,
): Generator<undefined, { readonly isChanged: boolean; readonly blocked: PiiKind | null }> {
  let [isChanged, blocked]: [boolean, PiiKind | null] = [false, null];
  for (const place of spoken.flat()) {
    const scanner = new PiiScanner(rules, place.isJson, ({ kind, action }) => {
      if (action === 'block') blocked = kind;
    });
    const text = (yield* scanner.pushInSlices(place.text)) + scanner.end();
    if (blocked !== null) break;
    if (text !== place.text) {
      place.replace(text);
      isChanged = true;
    }
    yield;
  }
  return { isChanged, blocked };
}

function limitsOf(settings: JsonObject, hashKey: Json | undefined): PromptLimits {
  const pii = new PiiRules(settings['pii'], hashKey);
  return {
    maxMessages: numberOf(settings['max_messages']),
    maxCharacters: numberOf(settings['max_characters']),
    blocked: new BlockedPatterns(textsOf(settings['blocked_patterns'])),
    pii,
    restoring: restoringOf(textsOf(settings['restore']), pii, hashKey),
  };
}

/**
 * Returns null if values are not restored. Throws if a kind to be restored is not replaced, or its replacements are
 * ambiguous.
 */
function restoringOf(names: readonly string[], pii: PiiRules, key: Json | undefined): Restoring | null {
  if (names.length === 0) return null;
  for (const name of names) {
    const action = pii.kinds.find(([kind]) => kind === name)?.[1];
    if (action !== 'redact' && action !== 'hash') {
      throw new Error(`restore: ${name} can be put back only where pii redacts or hashes it`);
    }
  }
  if (typeof key !== 'string') throw new Error('hash_key is required where a kind is put back');
  return { kinds: new Set(PII_KINDS.filter((kind) => names.includes(kind))), key };
}
