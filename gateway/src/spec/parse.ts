/** Reads the text of a document as JSON values, within limits that hostile input cannot pass (E1002). */

import {
  CORE_SCHEMA,
  floatCoreTag,
  intCoreTag,
  load,
  mergeTag,
  type ScalarTagDefinition,
  YAMLException,
} from 'js-yaml';
import { isWrittenNumber, mayBeInexact, parseExactly, rawNumber, type WrittenNumber } from '../json/exact-json.ts';
import { hasUnheldNumber, isHeld } from '../json/stand-ins.ts';
import { settleNumber } from '../json/written-numbers.ts';
import { messageOf } from '../message-of.ts';
import type { Position } from './position.ts';

/** Bytes of one file; the largest public documents have 15 MB. */
export const MAX_FILE_BYTES = 64 << 20;
const MAX_DEPTH = 200;
const MAX_ALIASES = 10_000;
/** Values of a document with its aliases written out: aliases of aliases grow without bound in a few lines. */
const MAX_VALUES = 4_000_000;

export type Parsed =
  | { readonly ok: true; readonly value: unknown; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly position: Position | null; readonly text: string };

/** Numbers in decimal that JavaScript cannot hold stay as they were written, until `measure` has seen them. */
const withWritten = (tag: ScalarTagDefinition<number>): ScalarTagDefinition<number | WrittenNumber> => ({
  ...tag,
  resolve: (source, isExplicit, tagName) => {
    const value = tag.resolve(source, isExplicit, tagName);
    if (typeof value !== 'number' || !Number.isFinite(value)) return value;
    const json = jsonOf(source);
    return json === null || isHeld(json) ? value : rawNumber(json);
  },
});

const plain = CORE_SCHEMA.withTags(mergeTag);
const written = plain.withTags(withWritten(intCoreTag), withWritten(floatCoreTag));

/** A decimal number of YAML as JSON writes it: no plus, no zeros in front, digits around the point; null if it is another. */
function jsonOf(source: string): string | null {
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^([-+]?)(\d*)(?:\.(\d*))?([eE][-+]?\d+)?$/.exec(source) ?? [];
  if (whole + fraction === '') return null;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}${exponent}`;
}

/** Parses JSON if the text begins with `{`, else YAML 1.2 (which includes JSON). */
export function parseText(bytes: Uint8Array): Parsed {
  const refuse = (message: string, text: string, position: Position | null = null): Parsed => ({
    ok: false,
    message,
    position,
    text,
  });
  if (bytes.length > MAX_FILE_BYTES)
    return refuse(`the file has ${bytes.length} bytes, more than ${MAX_FILE_BYTES}`, '');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return refuse('the file is not UTF-8 text', '');
  }
  let value: unknown;
  const json = parseJson(text);
  if (json) value = json.value;
  else {
    try {
      value = loadYaml(text);
    } catch (error) {
      const { message, position } = describe(error);
      return refuse(message, text, position);
    }
  }
  const excess = measure(value);
  return excess === null ? { ok: true, value, text } : refuse(excess, text);
}

function loadYaml(text: string): unknown {
  const limits = { maxAliases: MAX_ALIASES, maxDepth: MAX_DEPTH };
  if (mayBeInexact(text)) {
    try {
      const value: unknown = load(text, { ...limits, schema: written });
      return isWrittenNumber(value) ? Number(value.rawJSON) : value;
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      // Such a number may be the name of a member.
    }
  }
  return load(text, { ...limits, schema: plain });
}

function parseJson(text: string): { readonly value: unknown } | null {
  if (!/^\s*\{/.test(text)) return null;
  try {
    return { value: hasUnheldNumber(text) ? parseExactly(text) : JSON.parse(text) };
  } catch {
    // The YAML reader reports the error; and `{a: b}` is YAML.
    return null;
  }
}

function describe(error: unknown): { message: string; position: Position | null } {
  if (error instanceof YAMLException) {
    const { mark } = error;
    return { message: error.reason, position: mark ? { line: mark.line + 1, column: mark.column + 1 } : null };
  }
  return { message: messageOf(error), position: null };
}

/** Returns why the value is too large, or not JSON; otherwise null. Without recursion, which depth could exhaust. */
function measure(root: unknown): string | null {
  const values: unknown[] = [root];
  const depths: number[] = [0];
  for (let count = 0; values.length > 0; count++) {
    const value = values.pop();
    const depth = depths.pop() as number;
    if (count > MAX_VALUES) return `the document holds more than ${MAX_VALUES} values (its aliases written out)`;
    if (typeof value === 'number' && !Number.isFinite(value))
      return 'numbers must be finite: .inf and .nan are not JSON';
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) return `the document is nested more than ${MAX_DEPTH} levels deep`;
    for (const [name, each] of Object.entries(value)) {
      values.push(isWrittenNumber(each) ? settleNumber(value, name, each) : each);
      depths.push(depth + 1);
    }
  }
  return null;
}
