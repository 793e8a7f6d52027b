/**
 * Looks for schemas and values that hold up the event loop longer than validation may there: hill climbing over schemas
 * that people write (composition, recursion, `unevaluated…`, `uniqueItems`, enumerations, patterns with counts) and values
 * made to be expensive for them. `node gateway/src/validation/hostile.bench.ts [SECONDS] [SEED]` prints the worst pairs
 * that it has found: milliseconds on the event loop, without compiling.
 */
import { performance } from 'node:perf_hooks';
import type { Json, JsonObject } from '../artifact/format.ts';
import { MOST_INLINE_UNITS, StepBudget, StepsExceeded } from '../patterns/step-budget.ts';
import { Schemas } from './schemas.ts';

const SECONDS = Number(process.argv[2] ?? 30);
const SEED = Number(process.argv[3] ?? 1);
/** Bytes of the longest value that is validated on the event loop. */
const MOST_BYTES = 128 << 10;
/** What is kept to be changed further. */
const POOL = 24;
/** As on the event loop. */
const LIMIT = { ms: 5, piece: MOST_INLINE_UNITS };

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

const random = numbers(SEED);
const below = (most: number) => Math.floor(random() * most);
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
const many = <T>(most: number, make: (i: number) => T): T[] =>
  Array.from({ length: 1 + below(most) }, (_, i) => make(i));

const NAMES = ['a', 'b', 'c', 'left', 'right', 'items'];
const IDS = ['root', 's1', 's2', 's3'];
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

function schema(depth: number): Json {
  if (depth === 0 || random() < 0.2) return leaf();
  const inner = () => schema(depth - 1);
  const width = oneOf([2, 3, 20, 100]);
  const parts: (() => JsonObject)[] = [
    () => ({ anyOf: many(width, inner) }),
    () => ({ oneOf: many(width, inner) }),
    () => ({ allOf: many(width, inner) }),
    () => ({ not: inner() }),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; this object is never awaited
    () => ({ if: inner(), then: inner(), else: inner() }),
    () => ({ properties: Object.fromEntries(many(NAMES.length, () => [oneOf(NAMES), inner()])) }),
    () => ({ properties: Object.fromEntries(many(300, (i) => [`p${i}`, leaf()])) }),
    () => ({ additionalProperties: inner() }),
    () => ({ patternProperties: Object.fromEntries(many(20, (i) => [`${oneOf(PATTERNS)}|${i}`, inner()])) }),
    () => ({ propertyNames: inner() }),
    () => ({ items: inner() }),
    () => ({ items: inner(), uniqueItems: true }),
    () => ({ contains: inner(), minContains: below(3) }),
    () => ({ prefixItems: many(20, inner) }),
    () => ({ dependentSchemas: Object.fromEntries(many(6, () => [oneOf(NAMES), inner()])) }),
    () => ({ unevaluatedProperties: oneOf<Json>([false, leaf()]), anyOf: many(3, inner) }),
    () => ({ unevaluatedItems: oneOf<Json>([false, leaf()]), oneOf: many(3, inner) }),
    () => ({ minProperties: below(100_000) }),
    () => ({ required: many(100, (i) => `p${i}`) }),
  ];
  return Object.assign({}, ...many(2, () => oneOf(parts)()));
}

function leaf(): Json {
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

/** A value of at most so many bytes. */
function value(bytes: number): Json {
  const text = (length: number) => oneOf(['ab', 'a', 'a.', 'x@', 'A0', '0-', ':', '%']).repeat(length / 2);
  return oneOf<() => Json>([
    () => text(bytes),
    () => Array.from({ length: bytes / 2 }, () => 1),
    () => Array.from({ length: bytes / 3 }, () => ({})),
    () => Array.from({ length: bytes / 30 }, (_, i) => ({ a: i, b: { c: `value ${i}` } })),
    () => Array.from({ length: bytes / 20 }, (_, i) => `value ${i}`),
    () => Object.fromEntries(Array.from({ length: bytes / 10 }, (_, i) => [`ab${i}`, 1])),
    () => Object.fromEntries(Array.from({ length: 50 }, (_, i) => [text(bytes / 60) + i, i])),
    () => nested(below(60), oneOf(NAMES), value(bytes / 4)),
    () => nested(below(60), null, value(bytes / 4)),
    () => ({ [oneOf(NAMES)]: value(bytes / 3), [oneOf(NAMES)]: value(bytes / 3) }),
  ])();
}

function nested(depth: number, name: string | null, inner: Json): Json {
  let made = inner;
  for (let i = 0; i < depth; i++) made = name === null ? [made] : { [name]: made, op: 'or' };
  return made;
}

interface Pair {
  readonly table: JsonObject;
  readonly value: Json;
  readonly ms: number;
}

const newTable = (): JsonObject => Object.fromEntries(IDS.map((id) => [id, schema(3)]));

/** Milliseconds until the value is judged, or handed over; null: the schemas do not compile, or too slowly. */
function measure(table: JsonObject, given: Json): number | null {
  const text = JSON.stringify(given);
  if (text.length > MOST_BYTES) return null;
  const steps = new StepBudget(1_000_000);
  const schemas = new Schemas(table, false, steps);
  const root = { $ref: 'gw:root' };
  try {
    if (schemas.isHeavy(root)) return null;
    schemas.compile(root);
  } catch {
    return null;
  }
  const validate = schemas.validator(root);
  let best = Number.POSITIVE_INFINITY;
  // The first ones also compile what is compiled late, and are no measure.
  for (let i = 0; i < 5; i++) {
    const parsed: Json = JSON.parse(text);
    steps.begin(0, text.length, LIMIT);
    // What others do on the machine meanwhile does not count.
    const from = process.threadCpuUsage();
    try {
      validate(parsed);
    } catch (error) {
      if (!(error instanceof StepsExceeded || error instanceof RangeError)) throw error;
    }
    const { user, system } = process.threadCpuUsage(from);
    if (i > 1) best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

function changed({ table, value: given }: Pair): Omit<Pair, 'ms'> {
  const kind = below(4);
  if (kind === 0) return { table, value: value(MOST_BYTES * random()) };
  if (kind === 1) return { table, value: nested(below(10), oneOf([...NAMES, null]), given) };
  if (kind === 2) return { table: { ...table, [oneOf(IDS)]: schema(1 + below(3)) }, value: given };
  const id = oneOf(IDS);
  return { table: { ...table, [id]: { anyOf: many(3, () => table[id] as Json) } }, value: given };
}

const pool: Pair[] = [];
let tried = 0;
const until = performance.now() + SECONDS * 1000;
while (performance.now() < until) {
  const from = pool.length > 4 && random() < 0.7 ? oneOf(pool) : null;
  const next = from ? changed(from) : { table: newTable(), value: value(MOST_BYTES * random()) };
  const ms = measure(next.table, next.value);
  tried++;
  if (ms === null) continue;
  pool.push({ ...next, ms });
  pool.sort((a, b) => b.ms - a.ms);
  pool.length = Math.min(pool.length, POOL);
}

console.log(`${tried} pairs in ${SECONDS} s, seed ${SEED}; milliseconds on the event loop, the worst first`);
for (const { table, value: given, ms } of pool.slice(0, 5)) {
  const text = JSON.stringify(given);
  console.log(`${ms.toFixed(1)} ms, ${text.length} bytes: ${JSON.stringify(table).slice(0, 300)}`);
  console.log(`  value ${text.slice(0, 120)}`);
}
