/**
 * Validates a value with texts as leaves: one that its schema refuses as text is read as the type that the schema
 * requires. For forms and `deepObject`, whose types cannot be known before a branch of the schema is chosen.
 */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { pointerTokens } from '../../spec/pointer.ts';
import { readAs } from '../styles/text.ts';

/** Each reads all leaves that are refused; a list within a list takes one more. */
const MOST_PASSES = 8;

/** `validate` tells all errors. Changes the value. */
export function validateTyped(
  validate: (value: unknown) => readonly ErrorObject[] | null,
  value: unknown,
): readonly ErrorObject[] | null {
  for (let pass = 0; ; pass++) {
    const errors = validate(value);
    if (errors === null || pass === MOST_PASSES) return errors;
    let changed = false;
    for (const error of errors) if (error.keyword === 'type' && read(value, error)) changed = true;
    if (!changed) return errors;
  }
}

function read(root: unknown, { instancePath, params }: ErrorObject): boolean {
  const tokens = [...(pointerTokens(instancePath) ?? [])];
  const last = tokens.pop();
  let parent: unknown = root;
  for (const token of tokens) parent = memberOf(parent, token);
  const text = last === undefined ? undefined : memberOf(parent, last);
  if (last === undefined || text === undefined || typeof parent !== 'object' || parent === null) return false;
  const types = [params['type']].flat().filter((each) => typeof each === 'string');
  const value = typeof text === 'string' ? readAs(text, types) : text;
  // A list of one is written as its item is.
  const isItem = types.includes('array') && !Array.isArray(text) && value === text;
  if (value === text && !isItem) return false;
  Object.defineProperty(parent, last, {
    value: isItem ? [text] : value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
  return true;
}

function memberOf(value: unknown, token: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, token)
    ? Reflect.get(value, token)
    : undefined;
}
