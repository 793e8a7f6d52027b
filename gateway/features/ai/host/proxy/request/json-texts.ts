/**
 * Every string of a request to a model, or of its answer, on every surface, including member names. All are texts
 * except words of the protocol, names of things at the places for them, and binary files: places are exact, and the
 * value is checked as well. Visits pause: a megabyte can hold half a million values.
 */

import { get, isObject, isWrittenNumber, type Obj, parseAsWritten, type Steps } from '../../../../kit.ts';
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

/** Values between two pauses: a fraction of a millisecond. */
const SLICE = 1_024;

/** Visits all texts in an object, and in its names. Yields if it can pause. */
export function visitTexts(value: Container, visitor: TextVisitor): Steps<void> {
  return new TextWalk(visitor).within(value, ROOT);
}

/** Visits the texts of a member, or of an element, and of everything below it. Yields if it can pause. */
export function visitMember(container: Container, key: string | number, visitor: TextVisitor): Steps<void> {
  return new TextWalk(visitor).at(container, key);
}

/** The name of a member of the request or the answer itself. */
export function visitName(container: Obj, name: string, visitor: TextVisitor): void {
  if (!isProtocolName(name, ROOT)) visitor.text(namePlace(container, name));
}

/** A container on the way to the current value. */
interface Level {
  readonly container: Container;
  readonly around: Around;
  /** Empty for a list. */
  readonly names: readonly string[];
  /** The next element; in an object the next member, and behind the last one the first name. */
  next: number;
}

const NO_NAMES: readonly string[] = [];

/** Goes through containers without recursion, so that it can pause anywhere at no cost. */
class TextWalk {
  readonly #visitor: TextVisitor;
  readonly #levels: Level[] = [];

  constructor(visitor: TextVisitor) {
    this.#visitor = visitor;
  }

  *at(container: Container, key: string | number): Steps<void> {
    this.#visit(container, key, ROOT);
    if (this.#levels.length > 0) yield* this.#run();
  }

  *within(container: Container, around: Around): Steps<void> {
    this.#enter(container, around);
    yield* this.#run();
  }

  *#run(): Steps<void> {
    const levels = this.#levels;
    for (let visited = 1; ; visited++) {
      const level = levels.at(-1);
      if (level === undefined) return;
      if (!this.#step(level)) levels.pop();
      if (visited % SLICE === 0) yield;
    }
  }

  /** Visits the next value or name. Returns false at the end of the container. */
  #step(level: Level): boolean {
    const { container, around, names } = level;
    const index = level.next++;
    if (Array.isArray(container)) {
      if (index >= container.length) return false;
      this.#visit(container, index, around);
      return true;
    }
    const isValue = index < names.length;
    // Names come last: places of their values have the names as they were.
    const name = names[isValue ? index : index - names.length];
    if (name === undefined) return false;
    if (isValue) this.#visit(container, name, around);
    else if (!isProtocolName(name, around)) this.#visitor.text(namePlace(container, name));
    return true;
  }

  #enter(container: Container, around: Around): void {
    const names = Array.isArray(container) ? NO_NAMES : Object.keys(container);
    this.#levels.push({ container, around, names, next: 0 });
  }

  #visit(container: Container, key: string | number, around: Around): void {
    const value: unknown = Array.isArray(container) ? container[Number(key)] : get(container, String(key));
    if (typeof value === 'string') {
      if (value !== '') visitText(container, key, value, this.#visitor, around);
      return;
    }
    const isList = Array.isArray(value);
    if (!isList && (!isObject(value) || isWrittenNumber(value))) return;
    if (!isList && key === 'input' && this.#visitor.input && !around.isFree) {
      this.#visitor.input(inputPlace(container, key, value));
      return;
    }
    this.#enter(value, Array.isArray(container) ? around : inside(container, String(key), around, value));
  }
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
