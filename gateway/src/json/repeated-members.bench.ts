/**
 * Measures the cost of finding repeated members, relative to parsing and validating a JSON body; at most a quarter is
 * wanted: `node gateway/src/json/repeated-members.bench.ts`. Both are measured in turns; each figure is the best of
 * several.
 */
import { ContentRules } from '../validation/content-rules.ts';
import { Schemas } from '../validation/schemas/schemas.ts';

const ROUNDS = 60;

const item = { id: 4711, title: 'A map of the world', kind: 'map', tags: ['old', 'paper'], price: 12.5 };
const itemSchema = {
  type: 'object',
  required: ['id', 'title'],
  additionalProperties: false,
  properties: {
    id: { type: 'integer', minimum: 1 },
    title: { type: 'string', minLength: 1, maxLength: 200 },
    kind: { enum: ['book', 'map'] },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 10 },
    price: { type: 'number' },
  },
};
const event = {
  id: 'e-1',
  at: '2026-01-02T03:04:05Z',
  link: 'https://shop.example/items?id=1',
  change: { path: { at: [1, 2, { of: null }] } },
  done: true,
  note: 'said "hello" to them',
};
const eventSchema = {
  type: 'object',
  required: ['id', 'at'],
  properties: {
    id: { type: 'string' },
    at: { type: 'string', format: 'date-time' },
    link: { type: 'string', maxLength: 100 },
    change: { type: 'object' },
    done: { type: 'boolean' },
  },
};
const list = (items: object) => ({ type: 'array', items });
const repeat = (count: number, value: (i: number) => unknown) => Array.from({ length: count }, (_, i) => value(i));
const named = (count: number, name: string) =>
  Object.fromEntries(repeat(count, (i) => [name + i, i]) as [string, number][]);
const numbers = { type: 'object', additionalProperties: { type: 'integer' } };

const BODIES: readonly (readonly [label: string, value: unknown, schema: object, indent?: number])[] = [
  ['an item', item, itemSchema],
  ['12 items', repeat(12, () => item), list(itemSchema)],
  ['1,100 items', repeat(1100, () => item), list(itemSchema)],
  ['1,100 items, indented', repeat(1100, () => item), list(itemSchema), 2],
  ['600 events', repeat(600, () => event), list(eventSchema)],
  ['5,000 pairs', repeat(5000, (i) => ({ a: i, b: 1 })), list(numbers)],
  ['300 objects of 40 members', repeat(300, () => named(40, 'property_')), list(numbers)],
  ['an object of 100,000 members', named(100_000, 'key'), numbers],
  ['15,000 numbers', repeat(15_000, (i) => i * 1.5), list({ type: 'number' })],
  ['a text of 100 kB', { text: 'x'.repeat(100_000) }, { properties: { text: { type: 'string' } } }],
];

for (const [label, value, schema, indent] of BODIES) {
  const bytes = Buffer.from(JSON.stringify(value, null, indent));
  const content = { 'application/json': { schema: { $ref: 'gw:s' } } };
  const rules = (repeats: 'last' | 'refused') =>
    new ContentRules(content, new Schemas({ s: schema as never }, false), repeats);
  const [lenient, once] = [rules('last'), rules('refused')];
  const calls = Math.max(1, Math.ceil(200_000 / bytes.length));
  const best = { lenient: Number.POSITIVE_INFINITY, once: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round++) {
    best.lenient = Math.min(best.lenient, time(lenient, bytes, calls));
    best.once = Math.min(best.once, time(once, bytes, calls));
  }
  const share = (100 * (best.once - best.lenient)) / best.lenient;
  process.stdout.write(
    `${label.padEnd(30)} ${String(bytes.length).padStart(8)} bytes ${best.lenient.toFixed(2).padStart(10)} µs + ${share.toFixed(0)}%\n`,
  );
}

/** Microseconds a call. */
function time(rules: ContentRules, bytes: Uint8Array, calls: number): number {
  const started = performance.now();
  for (let i = 0; i < calls; i++) if (rules.errors('application/json', bytes) !== null) throw new Error('is not valid');
  return ((performance.now() - started) * 1000) / calls;
}
