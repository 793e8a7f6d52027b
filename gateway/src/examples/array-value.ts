/** Lists as a schema wants them. */
import type { Json } from '../spec/json.ts';
import { type Making, Unmakeable } from './making.ts';
import { atLeast, atMost, type Parts, schemasOf } from './parts.ts';

/** Items where the schema leaves the number open. */
const USUAL = 2;
/** Values that are made for an item that must differ from all others. */
const TRIES = 20;

/** `make`: a value of its schemas, one level below. */
export function arrayValue(
  parts: Parts,
  making: Making,
  depth: number,
  make: (schemas: readonly Json[]) => Json,
): Json {
  const [least, most] = [atLeast(parts, 'minItems'), atMost(parts, 'maxItems')];
  const contained = schemasOf(parts, 'contains');
  const holding = contained.length === 0 ? 0 : Math.max(1, atLeast(parts, 'minContains'));
  const prefix = Math.max(0, ...parts.map(({ prefixItems }) => (Array.isArray(prefixItems) ? prefixItems.length : 0)));
  const closed = parts.some(({ items }) => items === false);
  const wanted = depth <= making.manner.optionalDepth ? Math.max(prefix, 1 + making.random.below(USUAL)) : 0;
  const open = closed ? prefix : Number.POSITIVE_INFINITY;
  const count = Math.min(most, open, Math.max(least, wanted, holding));
  const unique = parts.some(({ uniqueItems }) => uniqueItems === true);
  const values: Json[] = [];
  const known = new Set<string>();
  for (let tries = 0; values.length < count && tries < count + TRIES; tries++) {
    const at = values.length;
    const value = itemOrNone([...itemSchemas(parts, at), ...(at < holding ? contained : [])], make);
    if (value === undefined) break;
    const text = unique ? JSON.stringify(value) : '';
    if (unique && known.has(text)) continue;
    known.add(text);
    values.push(value);
  }
  if (values.length < least) throw new Unmakeable('its items cannot be made');
  return values;
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
