/** The parts of a prompt: templates that requests name, and messages around every conversation. */

import { type Exchange, get, isObject, isWrittenNumber, type JsonObject, type Obj } from '../../../../kit.ts';
import { AiRefusal, aiProblem, invalid, refusal } from '../../proxy/conversation/refusal.ts';
import { parsedRequest, rewriteRequest } from '../../proxy/request/parsed-request.ts';
import { surfaceOf } from '../../proxy/surfaces/surface-of.ts';
import { type FilesRule, filesRule } from '../files-rule.ts';
import { numberOf, objectOf, Profiles, textsOf } from '../profiles.ts';
import { type ConversationSurface, insertMessages, memberOf } from './insert-messages.ts';
import { type AddedMessage, addedMessages, Template } from './template.ts';

/** Outcome of a request; values of a metric's label. */
export const TEMPLATE_RESULTS = ['filled', 'untemplated', 'refused'] as const;
export type TemplateResult = (typeof TEMPLATE_RESULTS)[number];

export interface TemplateEvents {
  log(level: 'info' | 'warn', message: string, exchange: Exchange): void;
  count(result: TemplateResult): void;
}

interface Around {
  readonly prepend: readonly AddedMessage[];
  readonly append: readonly AddedMessage[];
  readonly allowsUntemplated: boolean;
  /** By name. */
  readonly templates: ReadonlyMap<string, Template>;
}

const REFERENCE = /^\{template:\/\/([^{}]{1,128})\}$/;
const PROPERTIES = 'properties';
/** Characters of a client's name for something that a refusal repeats. */
const MOST_SHOWN = 128;
/** Bytes of memory that a character takes in the value, in its text and in the body. */
const CHARACTER = 6;

/** Members that add nothing to a prompt: the only ones allowed besides a template, if templates are required. */
const TUNING = new Set([
  ...['model', 'stream', 'stream_options', 'n', 'seed', 'store', 'include', 'truncation', 'service_tier'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'stop', 'stop_sequences', 'parallel_tool_calls'],
  ...['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs'],
  ...['top_logprobs', 'reasoning', 'reasoning_effort', 'thinking', 'verbosity', 'modalities'],
  ...['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention'],
]);

export class PromptTemplates {
  readonly #profiles: Profiles<Around>;
  readonly #most: number;
  readonly #events: TemplateEvents;
  readonly files: FilesRule;

  /** Throws if the config cannot be used. */
  constructor(config: JsonObject, events: TemplateEvents) {
    const templates = new Map(
      Object.entries(objectOf(config['templates'])).map(([name, each]) => [
        name,
        new Template(objectOf(each)['messages']),
      ]),
    );
    this.#profiles = new Profiles(
      config,
      (settings) => aroundOf(settings, templates),
      (message, exchange) => events.log('warn', message, exchange),
    );
    this.#most = numberOf(config['max_characters']) ?? Number.POSITIVE_INFINITY;
    this.#events = events;
    this.files = filesRule(config);
  }

  /**
   * Returns null if the request goes on, with the prompt that the config makes of it. Throws AiRefusal if it is not
   * valid.
   */
  apply(exchange: Exchange): AiRefusal | null {
    const named = surfaceOf(exchange.path);
    const surface = named === 'counting' ? 'messages' : named;
    if (surface === 'models' || surface === 'embeddings' || surface === 'realtime') return null;
    try {
      this.#events.count(this.#rewrite(exchange, surface));
      return null;
    } catch (error) {
      if (error instanceof AiRefusal) this.#events.count('refused');
      throw error;
    }
  }

  #rewrite(exchange: Exchange, surface: ConversationSurface): TemplateResult {
    const { name, settings } = this.#profiles.of(exchange);
    const request = parsedRequest(exchange);
    const template = this.#templateOf(request, surface, settings);
    if (template === null && !settings.allowsUntemplated) {
      this.#events.log('info', `refused by the profile ${JSON.stringify(name)}: it uses no template`, exchange);
      const member = memberOf(surface);
      throw refusal('validation-failed', 'template_required', `${member} must name a template: "{template://NAME}".`, {
        param: member,
      });
    }
    const { prepend, append } = settings;
    const filled = template && this.#filled(request, template);
    if (filled === null && prepend.length + append.length === 0) return 'untemplated';
    hold(exchange, [...prepend, ...(filled ?? []), ...append]);
    const { [PROPERTIES]: _, ...rest } = request;
    rewriteRequest(exchange, insertMessages(filled === null ? request : rest, surface, { prepend, filled, append }));
    return filled === null ? 'untemplated' : 'filled';
  }

  /** Returns null if the request names no template. */
  #templateOf(request: Obj, surface: ConversationSurface, settings: Around): Template | null {
    const member = memberOf(surface);
    const value = get(request, member);
    const [, name] = typeof value === 'string' ? (REFERENCE.exec(value) ?? []) : [];
    if (name === undefined) return null;
    const template = settings.templates.get(name);
    if (template === undefined) {
      const detail = `There is no template ${JSON.stringify(name)}.`;
      throw refusal('validation-failed', 'template_not_found', detail, { param: member });
    }
    const beside = Object.keys(request).find((each) => each !== member && each !== PROPERTIES && !TUNING.has(each));
    if (beside !== undefined && !settings.allowsUntemplated) {
      const detail = `${shorten(beside)} cannot stand beside a template.`;
      throw refusal('validation-failed', 'template_required', detail, { param: shorten(beside) });
    }
    return template;
  }

  #filled(request: Obj, template: Template): readonly AddedMessage[] {
    const values = valuesOf(get(request, PROPERTIES) ?? {}, template);
    const length = template.lengthWith(values);
    if (length > this.#most) {
      const detail = `The template has ${length} characters with these values; at most ${this.#most} are allowed.`;
      throw refusal('validation-failed', 'prompt_too_long', detail, { param: PROPERTIES });
    }
    return template.filled(values);
  }
}

/** Each name has its value, and each value its place. */
function valuesOf(properties: unknown, template: Template): ReadonlyMap<string, string> {
  if (!isObject(properties)) throw invalid(PROPERTIES, 'an object');
  const odd = Object.keys(properties).find((name) => !template.has(name));
  if (odd !== undefined) throw invalid(`${PROPERTIES}.${shorten(odd)}`, 'left out: the template has no such property');
  return new Map(template.names.map((name) => [name, textFor(get(properties, name), `${PROPERTIES}.${name}`)]));
}

function textFor(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  if (isWrittenNumber(value)) return value.rawJSON;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw invalid(param, 'a string, a number or a boolean');
}

/** A name that a client has made up. */
function shorten(name: string): string {
  return name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}…` : name;
}

/** Counts the text that the config adds in the memory of the client: values may occur many times. */
function hold(exchange: Exchange, added: readonly AddedMessage[]): void {
  const characters = added.reduce((sum, { content }) => sum + content.length, 0);
  if (exchange.holdMore(CHARACTER * characters)) return;
  throw new AiRefusal(aiProblem('overloaded', null, 'The gateway has no room for the request. Try again.'));
}

function aroundOf(settings: JsonObject, all: ReadonlyMap<string, Template>): Around {
  const permitted = settings['templates'] === undefined ? null : new Set(textsOf(settings['templates']));
  return {
    prepend: addedMessages(settings['prepend']),
    append: addedMessages(settings['append']),
    allowsUntemplated: settings['allow_untemplated_requests'] !== false,
    templates: new Map([...all].filter(([name]) => permitted === null || permitted.has(name))),
  };
}
