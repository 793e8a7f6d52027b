/** Headers of a described response, with examples or values made from their schemas. */
import type { DescribedValue, Json } from '../artifact/format.ts';
import type { HeaderList } from '../exchange.ts';
import { isFieldValue } from '../headers/field-syntax.ts';
import { STANDARD_NAMES } from '../headers/standard.ts';
import { isObject } from '../spec/json.ts';
import { isToken, transportHeaders } from '../wasm/host/header-rules.ts';
import type { ValueMaker } from './valid-value.ts';

/** Returns headers that the gateway does not set itself. */
export function headersOf(
  described: { readonly [name: string]: DescribedValue },
  maker: ValueMaker,
  seed: string,
): HeaderList {
  const headers: HeaderList = [];
  for (const [name, value] of Object.entries(described)) {
    if (name === 'content-type' || !isToken(name)) continue;
    if (transportHeaders.has(name) || STANDARD_NAMES.has(name)) continue;
    const text = simple(headerValueOf(value, maker, `${seed} ${name}`));
    if (text !== null && isFieldValue(text)) headers.push(name, text);
  }
  return headers;
}

function headerValueOf(
  { schema, examples = {}, serialized = [] }: DescribedValue,
  maker: ValueMaker,
  seed: string,
): Json {
  const given = Object.entries(examples).find(
    ([name, value]) => schema === undefined || serialized.includes(name) || maker.isValid(schema, value),
  );
  if (given !== undefined) return given[1];
  if (schema === undefined) return null;
  const { value, valid } = maker.make(schema, seed);
  return valid ? (value ?? null) : null;
}

/** Writes a value in the style `simple` (RFC 6570, section 3.2.2). */
function simple(value: Json): string | null {
  if (value === null) return null;
  if (isObject(value)) return Object.entries(value).flat().map(String).join(',');
  return Array.isArray(value) ? value.map(String).join(',') : String(value);
}
