/**
 * Answers out of an operation's description (docs/reference/plugins.md#examples): the response by status, its media type
 * by `Accept`, its body an example or a value made from the schema, the same for the same request.
 */
import type { DescribedValue, Json, JsonObject, Operation, SchemaRef } from '../artifact/format.ts';
import { type Answer, type Exchange, joinedHeader } from '../exchange.ts';
import { isJson } from '../headers/media-type.ts';
import { problem } from '../problems.ts';
import type { Schemas } from '../validation/schemas/schemas.ts';
import {
  type ChosenResponse,
  configuredResponse,
  type Described,
  documentName,
  responseOf,
} from './choose-response.ts';
import { type ChosenType, chooseType } from './choose-type.ts';
import { headersOf } from './header-values.ts';
import { isSequential, itemsOf, renderBody } from './render.ts';
import { ValueMaker } from './valid-value.ts';

/** Items of a sequence without an example. */
const MADE_ITEMS = 2;
/** Statuses whose responses have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export class ExampleResponses {
  readonly #described: Described;
  readonly #maker: ValueMaker;
  readonly #place: string;
  /** The example of a media type that its own schema admits; null without one. */
  readonly #admitted = new WeakMap<DescribedValue, Given | null>();

  /** `place`: of the operation in its document, as a JSON pointer. */
  constructor(described: Described, maker: ValueMaker, place: string) {
    this.#described = described;
    this.#maker = maker;
    this.#place = place;
  }

  /** Returns null if the dispatcher does not answer with examples. */
  static of(operation: Operation, table: JsonObject, schemas: Schemas): ExampleResponses | null {
    const { described_responses: described, path, method } = operation;
    const place = pointer('paths', path, method.toLowerCase());
    return described ? new ExampleResponses(described, new ValueMaker(table, schemas), place) : null;
  }

  /** `status`: that of the plugin's config. Null if the description has no response for it. */
  answer(exchange: Exchange, status: number): Answer | null {
    const preference = preferenceOf(joinedHeader(exchange.headers, 'prefer'));
    const chosen = this.#choose(preference, status);
    if (chosen === null)
      return preference.code === undefined ? null : notThere('code', preference.code, this.#statuses);
    const { response } = chosen;
    const type = chooseType(Object.keys(response.content), joinedHeader(exchange.headers, 'accept'));
    const media = type === null ? null : (response.content[type.range] ?? null);
    const names = Object.keys(media?.examples ?? {});
    if (preference.example !== undefined && !names.includes(preference.example)) {
      return notThere(
        'example',
        preference.example,
        names.filter((name) => name !== ''),
      );
    }
    return this.#answerWith(exchange, chosen, type, preference);
  }

  #answerWith(exchange: Exchange, chosen: ChosenResponse, type: ChosenType | null, preference: Preference): Answer {
    const { status, response } = chosen;
    const seed = `${exchange.method} ${exchange.target} ${status}`;
    const headers = headersOf(response.headers ?? {}, this.#maker, seed);
    const applied = [preference.code !== undefined && 'code', preference.example !== undefined && 'example'];
    const names = applied.filter((name) => name !== false);
    if (names.length > 0) headers.push('preference-applied', names.join(', '));
    if (type === null || WITHOUT_BODY.has(status)) return { status, headers, body: null };
    const media = response.content[type.range] ?? {};
    const given =
      preference.example === undefined ? this.#exampleOf(media, type.type) : named(media, preference.example);
    const value = given ? given.value : this.#made(media, type.type, seed);
    if (value === undefined) {
      const keyword = isSequential(type.type) && media.items ? 'itemSchema' : 'schema';
      return unmakeable(this.#place + pointer('responses', chosen.name, 'content', type.range, keyword));
    }
    headers.push('content-type', type.type);
    if (given?.isSerialized) return { status, headers, body: String(value) };
    return { status, headers, body: renderBody(type.type, value, given !== null) };
  }

  #choose({ code }: Preference, status: number): ChosenResponse | null {
    if (code === undefined) return configuredResponse(this.#described, status);
    return /^[2-5]\d\d$/.test(code) ? responseOf(this.#described, Number(code)) : null;
  }

  get #statuses(): readonly string[] {
    const names = Object.keys(this.#described).filter((name) => !name.startsWith('1'));
    return names.map(documentName);
  }

  /** Documents hold examples that do not fit their schema; answers must fit. */
  #exampleOf(media: DescribedValue, type: string): Given | null {
    const known = this.#admitted.get(media);
    if (known !== undefined) return known;
    const names = Object.keys(media.examples ?? {});
    const admitted = names.map((name) => this.#admits(media, type, name)).find((each) => each !== null) ?? null;
    this.#admitted.set(media, admitted);
    return admitted;
  }

  #admits(media: DescribedValue, type: string, name: string): Given | null {
    const given = named(media, name);
    const { schema, items } = media;
    if (given === null) return null;
    const { value, isSerialized } = given;
    if (isSequential(type)) {
      // A text is the body as it stands.
      if (items === undefined || isSerialized || typeof value === 'string') return given;
      return itemsOf(value).every((each) => this.#maker.isValid(items, each)) ? given : null;
    }
    if (!isJson(type)) return given;
    if (!isSerialized && (schema === undefined || this.#maker.isValid(schema, value))) return given;
    // Some write JSON as a text, and a text that is sent as it stands must be JSON.
    const parsed = typeof value === 'string' ? parsedOrNone(value) : undefined;
    if (parsed === undefined || (schema !== undefined && !this.#maker.isValid(schema, parsed))) return null;
    return isSerialized ? given : { value: parsed, isSerialized };
  }

  /** Returns `{}` if the description has no schema; undefined if no value was found that its schema admits. */
  #made({ schema, items }: DescribedValue, type: string, seed: string): Json | undefined {
    if (items !== undefined && isSequential(type)) return this.#madeItems(items, seed);
    if (schema === undefined) return {};
    const { value, valid } = this.#maker.make(schema, seed);
    return valid ? value : undefined;
  }

  /** Returns undefined if no value was found for one of them. */
  #madeItems(items: SchemaRef, seed: string): Json | undefined {
    const made = Array.from({ length: MADE_ITEMS }, (_, i) => this.#maker.make(items, `${seed} ${i}`));
    const values = made.flatMap(({ value, valid }) => (valid && value !== undefined ? [value] : []));
    return values.length === MADE_ITEMS ? values : undefined;
  }
}

interface Given {
  readonly value: Json;
  /** A text that is sent as it stands. */
  readonly isSerialized: boolean;
}

function named({ examples = {}, serialized = [] }: DescribedValue, name: string): Given | null {
  const value = Object.hasOwn(examples, name) ? examples[name] : undefined;
  return value === undefined ? null : { value, isSerialized: serialized.includes(name) };
}

function parsedOrNone(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Never an answer that the description does not allow. */
function unmakeable(field: string): Answer {
  const detail = 'No value was found that the schema of this response admits: give the response an example.';
  const reason = 'no value was found that this schema admits';
  return { problem: problem('not-implemented', detail, { errors: [{ in: 'document', field, reason }] }) };
}

function pointer(...tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function notThere(what: 'code' | 'example', wanted: string, names: readonly string[]): Answer {
  const there = names.length === 0 ? 'none' : names.slice(0, 20).join(', ');
  const detail = `Prefer asks for ${what}=${wanted.slice(0, 60)}; the description has ${there}.`;
  return { problem: problem('validation-failed', detail) };
}

interface Preference {
  /** As sent; undefined if absent. */
  readonly code: string | undefined;
  readonly example: string | undefined;
}

const PREFERENCE = /(?:^|,)\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*))/g;

/**
 * Reads a client's preferences for a mocked answer: `Prefer: code=404, example=empty` (RFC 7240, with the names of mock
 * servers). The first of each name counts; malformed ones are ignored (section 2).
 */
export function preferenceOf(header: string | undefined): Preference {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain] of (header ?? '').matchAll(PREFERENCE)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '');
  }
  return { code: found.get('code'), example: found.get('example') };
}
