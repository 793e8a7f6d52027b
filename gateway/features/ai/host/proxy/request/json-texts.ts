/**
 * Every string of a request to a model, or of its answer, on every surface, including member names. All are texts
 * except words of the protocol, names of things at the places for them, and binary files: places are exact, and the
 * value is checked as well.
 */

import { get, isObject, isWrittenNumber, type Obj, parseAsWritten } from '../../../../kit.ts';
import { type FileText, fileText } from './file-text.ts';
import { FREE_NAMES, LABELS, PROTOCOL_NAMES, WORDS } from './known-words.ts';

/** A text, and how another takes its place. */
export interface TextPlace {
  readonly text: string;
  /** It is JSON, as arguments of calls are. */
  readonly isJson: boolean;
  /** A model reads it together with such texts before and behind it; URLs and names beside them are not. */
  readonly isSaid: boolean;
  replace(text: string): void;
}

export interface TextVisitor {
  text(place: TextPlace): unknown;
  /** The name of something, in one piece, such as an id: it must stay as it is. */
  label?(text: string): unknown;
  /** A binary file, as its string. */
  file?(value: string): unknown;
  /** The input of a call, as JSON; else its texts are visited one by one. */
  input?(place: TextPlace): unknown;
}

type Container = Obj | unknown[];

/** Surroundings of a value: the object around its container, and the container's name there. */
interface Around {
  readonly outer: Obj | null;
  readonly name: string;
  /** Any value may occur here: labels and files are not recognised. */
  readonly isFree: boolean;
}

const ROOT: Around = { outer: null, name: '', isFree: false };
/** Members of a message and of its parts that hold what is said. */
const SAID_MEMBERS: ReadonlySet<string> = new Set(['text', 'content', 'input', 'output', 'thinking', 'transcript']);
const LABEL = /^[\w.:-]{1,256}$/;
const MODEL = /^[\w.:/@+-]{1,256}$/;

/** Visits all texts in an object, and in its names. */
export function visitTexts(value: Container, visitor: TextVisitor): void {
  visitWithin(value, visitor, ROOT);
}

/** Visits the texts of a member, or of an element, and of everything below it. */
export function visitMember(container: Container, key: string | number, visitor: TextVisitor): void {
  visitAt(container, key, visitor, ROOT);
}

/** The name of a member of the request or the answer itself. */
export function visitName(container: Obj, name: string, visitor: TextVisitor): void {
  if (!isProtocolName(name, ROOT)) visitor.text(namePlace(container, name));
}

function visitWithin(value: Container, visitor: TextVisitor, around: Around): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) visitAt(value, i, visitor, around);
    return;
  }
  const names = Object.keys(value);
  for (const name of names) visitAt(value, name, visitor, around);
  // Names come last: places of their values have the names as they were.
  for (const name of names) if (!isProtocolName(name, around)) visitor.text(namePlace(value, name));
}

function visitAt(container: Container, key: string | number, visitor: TextVisitor, around: Around): unknown {
  const value: unknown = Array.isArray(container) ? container[Number(key)] : get(container, String(key));
  if (typeof value === 'string') {
    if (value !== '') visitText(container, key, value, visitor, around);
  } else if (Array.isArray(value)) {
    visitWithin(value, visitor, Array.isArray(container) ? around : inside(container, String(key), around, value));
  } else if (isObject(value) && !isWrittenNumber(value)) {
    if (key === 'input' && visitor.input && !around.isFree) return visitor.input(inputPlace(container, key, value));
    visitWithin(value, visitor, Array.isArray(container) ? around : inside(container, String(key), around, value));
  }
  return null;
}

function inside(outer: Obj, name: string, around: Around, value: unknown): Around {
  const isInput = name === 'input' && !Array.isArray(value);
  const isFree = around.isFree || isInput || FREE_NAMES.has(name) || !PROTOCOL_NAMES.has(name);
  return { outer, name, isFree };
}

/** One that the protocol has: no text. */
function isProtocolName(name: string, { isFree }: { readonly isFree: boolean }): boolean {
  return isFree ? SCHEMA_NAMES.has(name) : PROTOCOL_NAMES.has(name);
}

const SCHEMA_NAMES: ReadonlySet<string> = new Set([
  ...['type', 'properties', 'required', 'items', 'enum', 'description', 'additionalProperties', 'format', 'title'],
  ...['anyOf', 'oneOf', 'allOf', '$ref', '$defs', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'default'],
]);

function visitText(
  container: Container,
  key: string | number,
  value: string,
  visitor: TextVisitor,
  around: Around,
): unknown {
  if (Array.isArray(container)) return visitor.text(placeOf(container, key, value, null));
  const name = String(key);
  if (isWord(name, value)) return null;
  if (!around.isFree) {
    if (name === 'model' && MODEL.test(value)) return visitor.label?.(value);
    if (LABELS.has(name) && LABEL.test(value)) return visitor.label?.(value);
    const file = fileText(container, name, value, around.outer, around.name);
    if (file?.kind === 'binary') return visitor.file?.(value);
    if (file !== null) {
      // The string comes first: of two replacements that of the decoded text holds.
      if (!file.isExact) visitor.text(placeOf(container, key, value, null));
      for (const text of file.texts) visitor.text({ ...placeOf(container, key, text, file), isSaid: false });
      return null;
    }
  }
  return visitor.text(placeOf(container, key, value, null));
}

function isWord(name: string, value: string): boolean {
  return WORDS.get(name)?.has(value) ?? false;
}

function placeOf(container: Container, key: string | number, text: string, file: FileText | null): TextPlace {
  return {
    text,
    isJson: key === 'arguments',
    isSaid: typeof key === 'number' || SAID_MEMBERS.has(key),
    replace(other) {
      set(container, key, file?.kind === 'text' ? file.encode(other) : other);
    },
  };
}

function inputPlace(container: Container, key: string, value: Obj): TextPlace {
  return {
    text: JSON.stringify(value),
    isJson: true,
    isSaid: false,
    replace(other) {
      const replaced = parseAsWritten(other);
      set(container, key, replaced);
    },
  };
}

function namePlace(container: Obj, name: string): TextPlace {
  return {
    text: name,
    isJson: false,
    isSaid: false,
    replace(other) {
      let free = other;
      while (Object.hasOwn(container, free)) free += '_';
      const value = get(container, name);
      delete (container as Record<string, unknown>)[name];
      set(container, free, value);
    },
  };
}

function set(container: Container, key: string | number, value: unknown): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  else Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}
