/** Lists as a schema wants them. */
import type { Json } from '../spec/json.ts';
import { Unmakeable, type ValueGenerator } from './generator.ts';
import { atLeast, atMost, type Parts, schemasOf } from './parts.ts';

/** Number of items if the schema leaves it open. */
const USUAL = 2;
/** Attempts for each item that must differ from all others: the last one needs most. */
const TRIES = 20;
/** Number of distinct items from which values are chosen from a wider range. */
const MANY = 8;

/** `make`: a value of its schemas, one level below. */
export function arrayValue(
  parts: Parts,
  generator: ValueGenerator,
  depth: number,
  make: (schemas: readonly Json[]) => Json,
): Json {
  const [least, most] = [atLeast(parts, 'minItems'), atMost(parts, 'maxItems')];
  const contained = schemasOf(parts, 'contains');
  const holding = contained.length === 0 ? 0 : Math.max(1, atLeast(parts, 'minContains'));
  const prefix = Math.max(0, ...parts.map(({ prefixItems }) => (Array.isArray(prefixItems) ? prefixItems.length : 0)));
  const closed = parts.some(({ items }) => items === false);
  const wanted = depth <= generator.strategy.optionalDepth ? Math.max(prefix, 1 + generator.random.below(USUAL)) : 0;
  const open = closed ? prefix : Number.POSITIVE_INFINITY;
  const count = Math.min(most, open, Math.max(least, wanted, holding));
  generator.expect(count);
  const unique = parts.some(({ uniqueItems }) => uniqueItems === true);
  const { reach } = generator;
  if (unique && count > MANY) generator.reach = Math.max(reach, count * count);
  const item = (at: number) => itemOrNone([...itemSchemas(parts, at), ...(at < holding ? contained : [])], make);
  const values = unique ? different(count, item) : upTo(count, item);
  generator.reach = reach;
  if (values.length < least) throw new Unmakeable('its items cannot be made');
  return values;
}

type MakeItem = (at: number) => Json | undefined;

function upTo(count: number, item: MakeItem): Json[] {
  const values: Json[] = [];
  while (values.length < count) {
    const value = item(values.length);
    if (value === undefined) break;
    values.push(value);
  }
  return values;
}

function different(count: number, item: MakeItem): Json[] {
  const values = new Map<string, Json>();
  for (let tries = 0; values.size < count && tries < count * TRIES; tries++) {
    const value = item(values.size);
    if (value === undefined) break;
    const text = JSON.stringify(value);
    if (!values.has(text)) values.set(text, value);
  }
  return [...values.values()];
}

function itemOrNone(schemas: readonly Json[], make: (schemas: readonly Json[]) => Json): Json | undefined {
  try {
    return make(schemas);
  } catch (error) {
    if (!(error instanceof Unmakeable)) throw error;
    return undefined;
  }
}

function itemSchemas(parts: Parts, at: number): readonly Json[] {
  return parts.flatMap(({ prefixItems, items }) => {
    const own = Array.isArray(prefixItems) ? prefixItems[at] : undefined;
    const schema = own ?? items;
    return schema === undefined ? [] : [schema as Json];
  });
}
