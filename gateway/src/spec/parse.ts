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
import { messageOf } from '../text/message-of.ts';
import type { Position } from './position.ts';

/** Bytes of one file; the largest public documents have 15 MB. */
const MAX_FILE_BYTES = 64 << 20;
const MAX_DEPTH = 200;
const MAX_ALIASES = 10_000;
/** Values of a document with its aliases written out: aliases of aliases grow without bound in a few lines. */
const MAX_VALUES = 4_000_000;

export type Parsed =
  | { readonly ok: true; readonly value: unknown; readonly text: string }
  | {
      readonly ok: false;
      readonly message: string;
      /** How to correct the fault. */
      readonly hint: string;
      readonly position: Position | null;
      readonly text: string;
    };

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
  const refuse = (message: string, hint: string, text: string, position: Position | null = null): Parsed => ({
    ok: false,
    message,
    hint,
    position,
    text,
  });
  if (bytes.length > MAX_FILE_BYTES)
    return refuse(`the file has ${bytes.length} bytes, more than ${MAX_FILE_BYTES}`, SPLIT, '');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return refuse('the file is not UTF-8 text', 'Save the file with the encoding UTF-8.', '');
  }
  let value: unknown;
  const json = parseJson(text);
  if (json) value = json.value;
  else {
    try {
      value = loadYaml(text);
    } catch (error) {
      const { message, position } = describe(error);
      return refuse(message, syntaxHint(message), text, position);
    }
  }
  const excess = measure(value);
  if (excess === null) return { ok: true, value, text };
  const isNumber = /finite/.test(excess);
  const hint = isNumber ? 'Write a number, or a string in quotation marks.' : SPLIT;
  return refuse(excess, hint, text, isNumber ? positionOf(text, /[-+]?\.(?:inf|nan)\b/i) : null);
}

function positionOf(text: string, pattern: RegExp): Position | null {
  const before = text.slice(0, pattern.exec(text)?.index ?? 0).split('\n');
  return before.length === 1 && before[0] === ''
    ? null
    : { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

const SPLIT = 'Split the document into files that refer to each other with $ref, or write out fewer aliases.';

/** Hints by the reason that js-yaml reports. */
const SYNTAX_HINTS: readonly (readonly [reason: RegExp, hint: string])[] = [
  [/\btab/, 'Indent with spaces: YAML allows no tabs there.'],
  [/indentation/, 'Begin the keys of one object in the same column: compare this line with the lines above it.'],
  [/duplicat/, 'Remove or rename one of the two keys.'],
  [/colon is missed|implicit/, 'Write "key: value", with a space behind the colon.'],
  [/flow|comma/, 'Close the bracket or brace, and separate what is in it with commas.'],
  [
    /end of the stream|document separator/,
    'Check that brackets and quotation marks above this line are closed, and keep one document in a file.',
  ],
  [/quoted|escape/, 'Close the quotation mark, or write the text in single quotation marks.'],
  [/alias|anchor/, 'Define the anchor (&name) above the alias (*name), or write the value in quotation marks.'],
  [/tag/, 'Remove the tag, or write the value in quotation marks.'],
];

function syntaxHint(reason: string): string {
  const known = SYNTAX_HINTS.find(([pattern]) => pattern.test(reason));
  return known?.[1] ?? 'Correct this line or the one above it; text with ": ", "#" or a bracket needs quotation marks.';
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
