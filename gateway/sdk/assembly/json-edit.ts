/**
 * Sets and removes members of a JSON text by JSON pointer (RFC 6901) in one pass, without a tree of the text: other
 * members are copied unchanged.
 */
import { Config } from "./config";
import { unescaped } from "./json-string";
import { Text, text, TextBuilder } from "./text";
import { JSON_STRING, TextTemplate } from "./text-template";

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const COMMA: u8 = 0x2c;
const COLON: u8 = 0x3a;
const SLASH: u8 = 0x2f;
const TILDE: u8 = 0x7e;

/** `application/json` and `…+json`, with or without parameters. */
export function isJson(contentType: Text): bool {
  const end = contentType.indexOf(0x3b);
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().lower();
  return type.endsWith(text("/json")) || type.endsWith(text("+json"));
}

/** A token of pointers, and the edit of the value there. */
@unmanaged
class Node {
  removes: bool = false;
  /** JSON text to set. */
  raw: Text | null = null;
  /** Text to set, with placeholders. */
  template: TextTemplate | null = null;
  /** While a text is edited: the JSON text to set, or null. */
  value: Text | null = null;
  /** While a text is edited: the value was found there. */
  found: bool = false;
  child: Node | null = null;
  next: Node | null = null;

  constructor(public key: Text) {}

  /** Returns the child of this name; makes it if it is missing. */
  at(key: Text): Node {
    const known = this.find(key);
    if (known) return known;
    const node = new Node(key);
    // Behind the others: members are added in the order of the config.
    let last = this.child;
    if (!last) this.child = node;
    else {
      let after = last.next;
      while (after !== null) {
        last = after;
        after = last.next;
      }
      last.next = node;
    }
    return node;
  }

  find(key: Text): Node | null {
    let node = this.child;
    while (node !== null) {
      if (node.key.equals(key)) return node;
      node = node.next;
    }
    return null;
  }

  /** Computes the values to set, here and below; reports whether there are any. */
  prepare(): bool {
    let sets = false;
    const template = this.template;
    this.value = this.raw;
    if (template) {
      const filled = template.resolve(JSON_STRING);
      if (filled) this.value = new TextBuilder(filled.length + 2).byte(QUOTE).add(filled).byte(QUOTE).take();
    }
    if (this.value) sets = true;
    let node = this.child;
    while (node !== null) {
      if (node.prepare()) sets = true;
      node = node.next;
    }
    return sets;
  }
}

@unmanaged
export class JsonEdit {
  private root: Node = new Node(new Text(0, 0));
  private count: i32 = 0;

  /** Reads the edits in a config at a pointer: `remove`, a list of pointers, and `set`, values by pointer. */
  static read(pointer: string): JsonEdit {
    const edit = new JsonEdit();
    const removed = Config.list(pointer + "/remove");
    for (let i = 0; i < removed.length; i++) edit.remove(removed[i]);
    const values = new Editor(Config.get(pointer + "/set", "{}"));
    for (let i = 0; i < Config.count(pointer + "/set"); i++) {
      const place = Config.key(pointer + "/set", i);
      if (!place) break;
      const json = values.nextMember();
      if (json.byteAt(0) != QUOTE) edit.setJson(place, json);
      else edit.setText(place, unescaped(json));
    }
    return edit;
  }

  get isEmpty(): bool {
    return this.count == 0;
  }

  remove(pointer: Text): void {
    this.node(pointer).removes = true;
  }

  /** Sets a string, with placeholders; sets nothing if the request lacks a value for one of them. */
  setText(pointer: Text, value: Text): void {
    this.node(pointer).template = TextTemplate.parse(new TextBuilder(value.length).json(value).take(), true);
  }

  setJson(pointer: Text, json: Text): void {
    this.node(pointer).raw = json;
  }

  private node(pointer: Text): Node {
    this.count++;
    let node = this.root;
    let start = 1;
    while (start <= pointer.length) {
      const slash = pointer.indexOf(SLASH, start);
      const end = slash < 0 ? pointer.length : slash;
      node = node.at(tokenOf(pointer.slice(start, end)));
      start = end + 1;
    }
    return node;
  }

  /** Returns the changed text, or null if it is not JSON. A byte order mark stays before it. */
  apply(json: Text): Text | null {
    this.root.prepare();
    const editor = new Editor(json);
    editor.copyMark();
    editor.edit(this.root);
    editor.skipSpace();
    return editor.failed || editor.at != json.length ? null : editor.out.take();
  }
}

/** A token of a pointer, unescaped. */
function tokenOf(token: Text): Text {
  if (token.indexOf(TILDE) < 0) return token;
  const out = new TextBuilder(64);
  for (let i = 0; i < token.length; i++) {
    if (token.byteAt(i) != TILDE || i + 1 == token.length) out.byte(token.byteAt(i));
    else out.byte(token.byteAt(++i) == 0x31 ? SLASH : TILDE);
  }
  return out.take();
}

@unmanaged
class Editor {
  at: i32 = 0;
  failed: bool = false;
  out: TextBuilder;

  constructor(private json: Text) {
    this.out = new TextBuilder(json.length + 1024);
  }

  private peek(): u8 {
    return this.at < this.json.length ? this.json.byteAt(this.at) : 0;
  }

  private fail(): void {
    this.failed = true;
    this.at = this.json.length;
  }

  /** Returns the value of the text's next member; the text must be an object with one more. */
  nextMember(): Text {
    // The brace, or the comma behind the last.
    this.at++;
    this.skipString();
    this.at++;
    const start = this.at;
    this.skipValue();
    return this.json.slice(start, this.at);
  }

  skipSpace(): void {
    while (this.at < this.json.length && isSpace(this.json.byteAt(this.at))) this.at++;
  }

  copyMark(): void {
    const json = this.json;
    if (json.length < 3 || json.byteAt(0) != 0xef || json.byteAt(1) != 0xbb || json.byteAt(2) != 0xbf) return;
    this.at = 3;
    this.out.add(json.slice(0, 3));
  }

  /** Copies the value that begins here, changed as the node says. */
  edit(node: Node): void {
    this.skipSpace();
    const start = this.at;
    const byte = this.peek();
    if (node.child !== null && byte == 0x7b) this.editObject(node);
    else if (node.child !== null && byte == 0x5b) this.editArray(node);
    else {
      this.skipValue();
      this.out.add(this.json.slice(start, this.at));
    }
  }

  private editObject(node: Node): void {
    forget(node);
    this.at++;
    this.out.byte(0x7b);
    let first = true;
    this.skipSpace();
    if (this.peek() == 0x7d) this.at++;
    else {
      for (;;) {
        this.skipSpace();
        const keyStart = this.at;
        if (this.peek() != QUOTE) return this.fail();
        this.skipString();
        const key = this.json.slice(keyStart, this.at);
        this.skipSpace();
        if (this.peek() != COLON) return this.fail();
        this.at++;
        if (this.member(node, unescaped(key), key, first)) first = false;
        this.skipSpace();
        const byte = this.peek();
        if (this.failed || (byte != COMMA && byte != 0x7d)) return this.fail();
        this.at++;
        if (byte == 0x7d) break;
      }
    }
    this.addMissing(node, first);
    this.out.byte(0x7d);
  }

  private editArray(node: Node): void {
    forget(node);
    this.at++;
    this.out.byte(0x5b);
    let first = true;
    this.skipSpace();
    if (this.peek() == 0x5d) this.at++;
    else {
      for (let index = 0; ; index++) {
        const token = new TextBuilder(16).integer(index).take();
        if (this.member(node, token, new Text(0, 0), first)) first = false;
        this.skipSpace();
        const byte = this.peek();
        if (this.failed || (byte != COMMA && byte != 0x5d)) return this.fail();
        this.at++;
        if (byte == 0x5d) break;
      }
    }
    // RFC 6901, section 4: the element behind the last.
    const end = node.find(text("-"));
    if (end && sets(end)) {
      if (!first) this.out.byte(COMMA);
      this.build(end);
    }
    this.out.byte(0x5d);
  }

  /** Copies a member or element, whose value begins here; returns false if it is removed. `key` has its quotes. */
  private member(parent: Node, token: Text, key: Text, first: bool): bool {
    const node = parent.find(token);
    this.skipSpace();
    const start = this.at;
    if (node && node.removes) {
      this.skipValue();
      return false;
    }
    if (!first) this.out.byte(COMMA);
    if (!key.isEmpty) this.out.add(key).byte(COLON);
    if (!node) {
      this.skipValue();
      this.out.add(this.json.slice(start, this.at));
      return true;
    }
    node.found = true;
    const value = node.value;
    if (value) {
      this.skipValue();
      this.out.add(value);
    } else this.edit(node);
    return true;
  }

  /** Adds the members of an object that are to be set and were not there. */
  private addMissing(node: Node, none: bool): void {
    let first = none;
    let child = node.child;
    while (child !== null) {
      if (!child.found && sets(child)) {
        if (!first) this.out.byte(COMMA);
        first = false;
        this.out.byte(QUOTE).json(child.key).byte(QUOTE).byte(COLON);
        this.build(child);
      }
      child = child.next;
    }
  }

  /** The value of a node that nothing was found at. */
  private build(node: Node): void {
    const value = node.value;
    if (value) {
      this.out.add(value);
      return;
    }
    forget(node);
    const end = onlyEnd(node);
    if (end) {
      this.out.byte(0x5b);
      this.build(end);
      this.out.byte(0x5d);
      return;
    }
    this.out.byte(0x7b);
    this.addMissing(node, true);
    this.out.byte(0x7d);
  }

  private skipValue(): void {
    const start = this.at;
    let depth = 0;
    while (this.at < this.json.length) {
      const byte = this.json.byteAt(this.at);
      if (byte == QUOTE) {
        this.skipString();
        if (depth == 0) return;
        continue;
      }
      if (depth == 0 && (byte == COMMA || byte == 0x7d || byte == 0x5d || isSpace(byte))) break;
      if (!isSpace(byte) && byte != COMMA && byte != COLON && !isBracket(byte)) {
        if (!this.skipScalar()) return this.fail();
        if (depth == 0) return;
        continue;
      }
      this.at++;
      if (byte == 0x7b || byte == 0x5b) depth++;
      else if (byte == 0x7d || byte == 0x5d) {
        if (--depth == 0) return;
      }
    }
    if (depth > 0 || this.at == start) this.fail();
  }

  /** Passes over a number or a literal; false for anything else, such as NaN or a comment. */
  private skipScalar(): bool {
    const start = this.at;
    while (this.at < this.json.length) {
      const byte = this.json.byteAt(this.at);
      if (isSpace(byte) || byte == COMMA || byte == COLON || isBracket(byte) || byte == QUOTE) break;
      this.at++;
    }
    const scalar = this.json.slice(start, this.at);
    const first = scalar.byteAt(0);
    if (first == 0x74) return scalar.equals(text("true"));
    if (first == 0x66) return scalar.equals(text("false"));
    if (first == 0x6e) return scalar.equals(text("null"));
    return isNumber(scalar);
  }

  private skipString(): void {
    this.at++;
    while (this.at < this.json.length) {
      const byte = this.json.byteAt(this.at++);
      if (byte == QUOTE) return;
      if (byte < 0x20) break;
      if (byte == BACKSLASH && !this.skipEscape()) break;
      if (byte >= 0x80 && !this.skipCharacter(byte)) break;
    }
    this.fail();
  }

  private skipEscape(): bool {
    const byte = this.peek();
    this.at++;
    if (byte != 0x75) return text('"\\/bfnrt').indexOf(byte) >= 0;
    for (let i = 0; i < 4; i++) {
      const digit = this.peek();
      const letter: u8 = digit | 0x20;
      if (!(digit >= 0x30 && digit <= 0x39) && !(letter >= 0x61 && letter <= 0x66)) return false;
      this.at++;
    }
    return true;
  }

  /** Passes over the rest of a character of several bytes of UTF-8 (RFC 3629, section 4). */
  private skipCharacter(first: u8): bool {
    const rest = first >= 0xc2 && first <= 0xdf ? 1 : first >= 0xe0 && first <= 0xef ? 2 : first >= 0xf0 && first <= 0xf4 ? 3 : 0;
    if (rest == 0) return false;
    const second = this.peek();
    if (first == 0xe0 && second < 0xa0) return false;
    if (first == 0xed && second > 0x9f) return false;
    if (first == 0xf0 && second < 0x90) return false;
    if (first == 0xf4 && second > 0x8f) return false;
    for (let i = 0; i < rest; i++) {
      if ((this.peek() & 0xc0) != 0x80) return false;
      this.at++;
    }
    return true;
  }
}

function isSpace(byte: u8): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

function isBracket(byte: u8): bool {
  return byte == 0x7b || byte == 0x7d || byte == 0x5b || byte == 0x5d;
}

/** RFC 8259, section 6. */
function isNumber(scalar: Text): bool {
  let at = scalar.byteAt(0) == 0x2d ? 1 : 0;
  const whole = digitsAt(scalar, at);
  if (whole == 0 || (whole > 1 && scalar.byteAt(at) == 0x30)) return false;
  at += whole;
  if (at < scalar.length && scalar.byteAt(at) == 0x2e) {
    const fraction = digitsAt(scalar, at + 1);
    if (fraction == 0) return false;
    at += 1 + fraction;
  }
  if (at < scalar.length && (scalar.byteAt(at) | 0x20) == 0x65) {
    at++;
    if (at < scalar.length && (scalar.byteAt(at) == 0x2b || scalar.byteAt(at) == 0x2d)) at++;
    const exponent = digitsAt(scalar, at);
    if (exponent == 0) return false;
    at += exponent;
  }
  return at == scalar.length;
}

function digitsAt(scalar: Text, from: i32): i32 {
  let at = from;
  while (at < scalar.length && scalar.byteAt(at) >= 0x30 && scalar.byteAt(at) <= 0x39) at++;
  return at - from;
}

function forget(node: Node): void {
  let child = node.child;
  while (child !== null) {
    child.found = false;
    child = child.next;
  }
}

/** Reports whether something is set at a node or below it. */
function sets(node: Node): bool {
  if (node.value) return true;
  let child = node.child;
  while (child !== null) {
    if (sets(child)) return true;
    child = child.next;
  }
  return false;
}

/**
 * Returns the element behind the last, if nothing else is set below the node: then a missing value there becomes a
 * list.
 */
function onlyEnd(node: Node): Node | null {
  let end: Node | null = null;
  let child = node.child;
  while (child !== null) {
    if (sets(child)) {
      if (end || !child.key.equals(text("-"))) return null;
      end = child;
    }
    child = child.next;
  }
  return end;
}
