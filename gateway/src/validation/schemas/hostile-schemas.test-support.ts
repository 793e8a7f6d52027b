/**
 * Schemas that people write (composition, recursion, `unevaluated…`, `uniqueItems`, enumerations, patterns with counts)
 * and values that are expensive for them, at random, for `hostile.bench.ts` and `test/bench/hostile-gaps.ts`.
 */
import type { Json, JsonObject } from '../../artifact/format.ts';

const NAMES = ['a', 'b', 'c', 'left', 'right', 'items'];
/** Ids of the schemas of a table; each may refer to any of them. */
export const IDS = ['root', 's1', 's2', 's3'];
/** Schemas below one of a table, beyond which all are leaves: otherwise some tables have millions. */
const MOST_SCHEMAS = 300;
const PATTERNS = [
  'a[ab]{700}c',
  '^[ab]*a[ab]{300}c$',
  '^(?:[^,]*a[^,]{0,60},?)*$',
  '^(a|b)*x{3}c.*$',
  '^(?=.*[A-Z])(?=.*[0-9]).{8,}$',
  '^(\\w+\\s?)+\\1$',
  '^(?:[a-z0-9-]{1,63}\\.){1,8}[a-z]{2,63}$',
  '(?:a?){30}a{30}',
];

/** Mulberry32: the same numbers for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Generates schemas, values and patterns; equal seeds give equal ones. */
export class HostileSchemas {
  readonly random: () => number;
  #left = MOST_SCHEMAS;

  constructor(seed: number) {
    this.random = numbers(seed);
  }

  /** Returns a whole number from 0 to `most` - 1. */
  below(most: number): number {
    return Math.floor(this.random() * most);
  }

  oneOf<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** Returns 1 to `most` values. */
  many<T>(most: number, make: (i: number) => T): T[] {
    return Array.from({ length: 1 + this.below(most) }, (_, i) => make(i));
  }

  /** Returns schemas by the ids in `IDS`, which refer to each other as `gw:<id>`. */
  table(): JsonObject {
    return Object.fromEntries(
      IDS.map((id) => {
        this.#left = MOST_SCHEMAS;
        return [id, this.schema(3)];
      }),
    );
  }

  schema(depth: number): Json {
    if (depth === 0 || --this.#left < 0 || this.random() < 0.2) return this.#leaf();
    const inner = () => this.schema(depth - 1);
    const width = this.oneOf([2, 3, 20, 100]);
    const { below, oneOf, many } = this.#bound();
    const parts: (() => JsonObject)[] = [
      () => ({ anyOf: many(width, inner) }),
      () => ({ oneOf: many(width, inner) }),
      () => ({ allOf: many(width, inner) }),
      () => ({ not: inner() }),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; this object is never awaited
      () => ({ if: inner(), then: inner(), else: inner() }),
      () => ({ properties: Object.fromEntries(many(NAMES.length, () => [oneOf(NAMES), inner()])) }),
      () => ({ properties: Object.fromEntries(many(300, (i) => [`p${i}`, this.#leaf()])) }),
      () => ({ additionalProperties: inner() }),
      () => ({ patternProperties: Object.fromEntries(many(20, (i) => [`${oneOf(PATTERNS)}|${i}`, inner()])) }),
      () => ({ propertyNames: inner() }),
      () => ({ items: inner() }),
      () => ({ items: inner(), uniqueItems: true }),
      () => ({ contains: inner(), minContains: below(3) }),
      () => ({ prefixItems: many(20, inner) }),
      () => ({ dependentSchemas: Object.fromEntries(many(6, () => [oneOf(NAMES), inner()])) }),
      () => ({ unevaluatedProperties: oneOf<Json>([false, this.#leaf()]), anyOf: many(3, inner) }),
      () => ({ unevaluatedItems: oneOf<Json>([false, this.#leaf()]), oneOf: many(3, inner) }),
      () => ({ minProperties: below(100_000) }),
      () => ({ required: many(100, (i) => `p${i}`) }),
    ];
    return Object.assign({}, ...many(2, () => oneOf(parts)()));
  }

  /** Returns a value of at most about so many bytes. */
  value(bytes: number): Json {
    const text = (length: number) =>
      this.oneOf(['ab', 'a', 'a.', 'x@', 'A0', '0-', ':', '%']).repeat(Math.max(1, length / 2));
    return this.oneOf<() => Json>([
      () => text(bytes),
      () => Array.from({ length: bytes / 2 }, () => 1),
      () => Array.from({ length: bytes / 3 }, () => ({})),
      () => Array.from({ length: bytes / 30 }, (_, i) => ({ a: i, b: { c: `value ${i}` } })),
      () => Array.from({ length: bytes / 20 }, (_, i) => `value ${i}`),
      () => Object.fromEntries(Array.from({ length: bytes / 10 }, (_, i) => [`ab${i}`, 1])),
      () => Object.fromEntries(Array.from({ length: 50 }, (_, i) => [text(bytes / 60) + i, i])),
      () => this.nested(this.value(bytes / 4), 60, this.oneOf(NAMES)),
      () => this.nested(this.value(bytes / 4), 60, null),
      () => ({ [this.oneOf(NAMES)]: this.value(bytes / 3), [this.oneOf(NAMES)]: this.value(bytes / 3) }),
    ])();
  }

  /** Wraps a value fewer than `depth` times: in a member of that name, or in lists if it is null. Default: either. */
  nested(value: Json, depth: number, name: string | null = this.oneOf([...NAMES, null])): Json {
    let made = value;
    for (let i = this.below(depth); i > 0; i--) made = name === null ? [made] : { [name]: made, op: 'or' };
    return made;
  }

  /** Returns a pattern of repeats, counts, alternatives and look-arounds over few letters. */
  pattern(depth = 3): string {
    const inner = () => this.pattern(depth - 1);
    if (depth === 0) return this.oneOf(['a', 'b', '[ab]', '[^,]', '\\w', '.', 'ab', '(?:a|b)', '\\d']);
    const count = this.oneOf([2, 8, 60, 300]);
    return this.oneOf<() => string>([
      () => `${inner()}${inner()}`,
      () => `(?:${inner()})*`,
      () => `(?:${inner()})+`,
      () => `(?:${inner()}?)*`,
      () => `(?:${inner()}){0,${count}}`,
      () => `(?:${inner()}){${count}}`,
      () => `(?:${inner()}|${inner()})`,
      () => `(?=${inner()})${inner()}`,
      () => `(${inner()})\\1`,
      () => `^${inner()}$`,
      () => `${this.oneOf(PATTERNS)}${inner()}`,
    ])();
  }

  #leaf(): Json {
    const { below, oneOf, many } = this.#bound();
    return oneOf<() => Json>([
      () => ({ $ref: `gw:${oneOf(IDS)}` }),
      () => ({ type: oneOf(['string', 'integer', 'object', 'array']) }),
      () => ({ enum: many(300, (i) => ({ a: i, b: { c: `value ${i}` } })) }),
      () => ({ enum: many(1_000, (i) => `value ${i}`) }),
      () => ({ const: { a: many(50, (i) => i) } }),
      () => ({ pattern: oneOf(PATTERNS) }),
      () => ({ minLength: below(200_000), maxLength: 200_000 + below(10) }),
      () => ({ format: oneOf(['email', 'uri', 'date-time', 'hostname', 'ipv6', 'uuid', 'iri', 'json-pointer']) }),
      () => true,
    ])();
  }

  #bound() {
    return {
      below: (most: number) => this.below(most),
      oneOf: <T>(values: readonly T[]) => this.oneOf(values),
      many: <T>(most: number, make: (i: number) => T) => this.many(most, make),
    };
  }
}
