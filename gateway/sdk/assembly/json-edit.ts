/** Changes of a JSON text in one pass, without a tree of the text: all other bytes are copied unchanged. */
import { Config } from "./config";
import { Json, JSON_TEXT } from "./json";
import { JsonPath } from "./json-path";
import { JsonScanner } from "./json-scanner";
import { unescaped } from "./json-string";
import { EMPTY, Text, text, TextBuilder } from "./text";
import { JSON_STRING, TextTemplate } from "./text-template";

const QUOTE: u8 = 0x22;
const COMMA: u8 = 0x2c;
const END = text("-");

/**
 * Returns true for `application/json` and `…+json`, with or without parameters.
 *
 * @example
 * const type = Request.header(text("content-type"));
 * if (!type || !isJson(type)) return CONTINUE;
 */
export function isJson(contentType: Text): bool {
  const end = contentType.indexOf(0x3b);
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().lower();
  return type.endsWith(text("/json")) || type.endsWith(text("+json"));
}

/** A token of pointers and paths, and the change to the value there. */
@unmanaged
class Node {
  removes: bool = false;
  /** JSON text that takes the place of the value, if there is one. */
  replacement: Text | null = null;
  /** JSON text to set. */
  raw: Text | null = null;
  /** Text to set, with placeholders. */
  template: TextTemplate | null = null;
  /** While a text is edited: the JSON text to set, or null. */
  value: Text | null = null;
  /** While a text is edited: the value was found there. */
  found: bool = false;
  /** For every element and member. */
  every: Node | null = null;
  child: Node | null = null;
  private last: Node | null = null;
  /** Found last: members mostly come in the same order again. */
  private recent: Node | null = null;
  next: Node | null = null;

  constructor(public key: Text) {}

  get isLeaf(): bool {
    return this.child === null && this.every === null;
  }

  /** The child of this token; creates it if it is missing. */
  at(path: JsonPath): Node {
    if (path.isAny) {
      const known = this.every;
      if (known) return known;
      const node = new Node(EMPTY);
      this.every = node;
      return node;
    }
    const known = this.find(path.name);
    if (known) return known;
    const node = new Node(path.name);
    // Behind the others: members are added in the order of the config.
    const last = this.last;
    if (last) last.next = node;
    else this.child = node;
    this.last = node;
    return node;
  }

  find(key: Text): Node | null {
    const recent = this.recent;
    const after = recent ? recent.next : null;
    if (after && after.key.equals(key)) {
      this.recent = after;
      return after;
    }
    let node = this.child;
    while (node !== null && !node.key.equals(key)) node = node.next;
    if (node !== null) this.recent = node;
    return node;
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

  forget(): void {
    let node = this.child;
    while (node !== null) {
      node.found = false;
      node = node.next;
    }
  }
}

/**
 * Changes of a JSON text. `set…` adds absent values; `replace…` and `remove…` change only existing ones.
 *
 * Pointers are JSON pointers (RFC 6901). In paths, `*` stands for every element of a list and every member of an object.
 *
 * @example
 * const mask = new JsonEdit();
 * mask.replaceText(text("/users/*\/ssn"), text("***"));
 * mask.removeMatches(text("/users/*\/password"));
 * const masked = mask.apply(Response.body());
 * if (masked) Response.setBody(masked);
 */
@unmanaged
export class JsonEdit {
  private root: Node = new Node(EMPTY);
  private count: i32 = 0;

  /** Reads a config: `remove`, a list of pointers, and `set`, values by pointer. */
  static read(pointer: string): JsonEdit {
    const edit = new JsonEdit();
    const removed = Config.list(pointer + "/remove");
    for (let i = 0; i < removed.length; i++) edit.remove(removed[i]);
    const values = Json.parse(Config.get(pointer + "/set", "{}"));
    const entries: Json[] = values ? values.entries() : [];
    for (let i = 0; i < entries.length; i++) {
      const each = entries[i];
      if (each.type == JSON_TEXT) edit.setText(each.name, each.text());
      else edit.setJson(each.name, each.raw);
    }
    return edit;
  }

  /** Returns true without changes. */
  get isEmpty(): bool {
    return this.count == 0;
  }

  /** Removes the member or element at a pointer. */
  remove(pointer: Text): void {
    this.node(pointer, false).removes = true;
  }

  /** Removes every member and element at a path. */
  removeMatches(path: Text): void {
    this.node(path, true).removes = true;
  }

  /** Replaces every value at a path by a string. Adds nothing if no value is there. */
  replaceText(path: Text, value: Text): void {
    this.replaceJson(path, new TextBuilder(value.length + 2).byte(QUOTE).json(value).byte(QUOTE).take());
  }

  /** Replaces every value at a path by a value that is written as JSON, such as `null`. Adds nothing if no value is there. */
  replaceJson(path: Text, json: Text): void {
    this.node(path, true).replacement = json;
  }

  /**
   * Sets the value at a pointer to a string, with placeholders; objects on the way are made. Does nothing if the request
   * has no value for a placeholder.
   */
  setText(pointer: Text, value: Text): void {
    this.node(pointer, false).template = TextTemplate.parse(new TextBuilder(value.length).json(value).take(), true);
  }

  /** Sets the value at a pointer to a value that is written as JSON; objects on the way are made. */
  setJson(pointer: Text, json: Text): void {
    this.node(pointer, false).raw = json;
  }

  private node(path: Text, hasAny: bool): Node {
    this.count++;
    let node = this.root;
    let token = JsonPath.parse(path, hasAny);
    while (token !== null) {
      node = node.at(token);
      token = token.rest;
    }
    return node;
  }

  /** Returns the changed text, or null if the text is not valid JSON. A byte order mark stays before it. */
  apply(json: Text): Text | null {
    this.root.prepare();
    return new Editor(json).run(this.root);
  }
}

class Editor {
  private out: TextBuilder;
  private scanner: JsonScanner;
  /** Nodes with changes that apply to the current value, those of the innermost last. */
  private nodes: Node[] = [];
  /** The last entry was removed. */
  private removed: bool = false;

  constructor(private json: Text) {
    this.out = new TextBuilder(json.length + 1024);
    this.scanner = new JsonScanner(json);
  }

  run(root: Node): Text | null {
    const scanner = this.scanner;
    scanner.skipMark();
    scanner.skipSpace();
    this.copy(0);
    this.nodes.push(root);
    this.value(0);
    const end = scanner.at;
    scanner.skipSpace();
    this.copy(end);
    return scanner.failed || scanner.at != this.json.length ? null : this.out.take();
  }

  /** Copies the bytes from there to the current position. */
  private copy(from: i32): void {
    this.out.add(this.json.slice(from, this.scanner.at));
  }

  /** Copies the value that begins here, with the changes of all nodes from `base` on. */
  private value(base: i32): void {
    const scanner = this.scanner;
    const nodes = this.nodes;
    const start = scanner.at;
    const byte = scanner.peek();
    let hasChild = false;
    let replacement: Text | null = null;
    for (let i = base; i < nodes.length; i++) {
      const node = nodes[i];
      if (!replacement) replacement = node.value ? node.value : node.replacement;
      if (!node.isLeaf) hasChild = true;
    }
    if (replacement) {
      scanner.skipValue();
      this.out.add(replacement);
    } else if (hasChild && (byte == 0x7b || byte == 0x5b)) this.container(base, byte == 0x7b);
    else {
      scanner.skipValue();
      this.copy(start);
    }
  }

  private container(base: i32, isObject: bool): void {
    const scanner = this.scanner;
    const nodes = this.nodes;
    const end = nodes.length;
    const close: u8 = isObject ? 0x7d : 0x5d;
    for (let i = base; i < end; i++) nodes[i].forget();
    this.out.byte(scanner.peek());
    scanner.at++;
    let from = scanner.at;
    let first = true;
    scanner.skipSpace();
    if (scanner.peek() != close) {
      for (let index = 0; ; index++) {
        scanner.at = from;
        const token = isObject ? this.name() : new TextBuilder(12).integer(index).take();
        scanner.skipSpace();
        if (scanner.failed) return;
        if (this.entry(base, end, token, from, first)) first = false;
        from = scanner.at;
        scanner.skipSpace();
        const byte = scanner.peek();
        if (byte != COMMA && byte != close) return scanner.fail();
        if (byte == close) break;
        if (!this.removed) this.copy(from);
        scanner.at++;
        from = scanner.at;
      }
    }
    // Blanks before the closing bracket stay there, behind added entries.
    const blanks = this.json.slice(from, scanner.at);
    for (let i = base; i < end; i++) first = this.addMissing(nodes[i], isObject, first);
    this.out.add(blanks).byte(close);
    scanner.at++;
  }

  /** The name of the member that begins here, unescaped. */
  private name(): Text {
    const name = this.scanner.skipName();
    return this.scanner.failed ? EMPTY : unescaped(name);
  }

  /**
   * Copies a member or element, whose value begins here; `from`: start of its own bytes. Returns false if it is
   * removed.
   */
  private entry(base: i32, end: i32, token: Text, from: i32, first: bool): bool {
    const nodes = this.nodes;
    let removes = false;
    for (let i = base; i < end; i++) {
      const parent = nodes[i];
      const node = parent.find(token);
      if (node) {
        nodes.push(node);
        if (node.removes) removes = true;
      }
      const every = parent.every;
      if (every) {
        nodes.push(every);
        if (every.removes) removes = true;
      }
    }
    if (removes) this.scanner.skipValue();
    else {
      for (let i = end; i < nodes.length; i++) nodes[i].found = true;
      if (!first) this.out.byte(COMMA);
      this.copy(from);
      if (nodes.length > end) this.value(end);
      else {
        const start = this.scanner.at;
        this.scanner.skipValue();
        this.copy(start);
      }
    }
    nodes.length = end;
    this.removed = removes;
    return !removes;
  }

  /** Adds missing values to an object or list. Returns false once there is an entry. */
  private addMissing(node: Node, isObject: bool, none: bool): bool {
    let first = none;
    let child = node.child;
    while (child !== null) {
      // RFC 6901, section 4: of lists, only the element behind the last can be added.
      const isMissing = isObject ? !child.found : child.key.equals(END);
      if (isMissing && sets(child)) {
        if (!first) this.out.byte(COMMA);
        first = false;
        if (isObject) this.out.byte(QUOTE).json(child.key).byte(QUOTE).byte(0x3a);
        this.build(child);
      }
      child = child.next;
    }
    return first;
  }

  /** Returns the value of a node without one in the text. */
  private build(node: Node): void {
    const value = node.value;
    if (value) {
      this.out.add(value);
      return;
    }
    node.forget();
    const isObject = !addsElement(node);
    this.out.byte(isObject ? 0x7b : 0x5b);
    this.addMissing(node, isObject, true);
    this.out.byte(isObject ? 0x7d : 0x5d);
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
 * Reports whether the only values to set below a node are elements behind the last: then a missing value there becomes
 * a list.
 */
function addsElement(node: Node): bool {
  let adds = false;
  let child = node.child;
  while (child !== null) {
    if (sets(child)) {
      if (!child.key.equals(END)) return false;
      adds = true;
    }
    child = child.next;
  }
  return adds;
}
