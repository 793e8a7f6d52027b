/**
 * Finds the operation for a method and a path: a tree of segments, built at load. Static segments win over
 * patterns, patterns over parameters, parameters over a greedy rest (reference 1, section 2.1); where the first
 * choice leads nowhere the next one is tried. Segments are compared percent-decoded, so `/%61` is `/a`, and an
 * encoded slash stays inside its segment.
 */
import { decodeSegment, matchPattern, parseTemplate, type Segment, type SegmentPattern } from './template.ts';

/** A path's operations by method. */
interface Leaf<T> {
  readonly methods: Map<string, { readonly value: T; readonly names: readonly string[] }>;
}

interface Node<T> {
  readonly statics: Map<string, Node<T>>;
  readonly patterns: { readonly pattern: SegmentPattern; readonly node: Node<T> }[];
  param: Node<T> | null;
  greedy: Leaf<T> | null;
  leaf: Leaf<T> | null;
}

export interface Match<T> {
  readonly value: T;
  /** As the client sent them, still encoded, in the order of the template's names. */
  readonly params: readonly string[];
}

/** Nothing matched: `allow` has the path's methods, and is empty where there is no such path. */
export interface Miss {
  readonly value: null;
  readonly allow: readonly string[];
}

const NO_PATH: Miss = { value: null, allow: [] };

function node<T>(): Node<T> {
  return { statics: new Map(), patterns: [], param: null, greedy: null, leaf: null };
}

export class Router<T> {
  readonly #root: Node<T> = node();
  /** Whole paths without parameters, which need no walk: path to leaf. */
  readonly #whole = new Map<string, Leaf<T>>();

  /** Throws TemplateError for a malformed template, Error where path and method are taken. */
  add(method: string, template: string, value: T): void {
    const { segments, names } = parseTemplate(template);
    const leaf = this.#leaf(segments);
    if (leaf.methods.has(method)) throw new Error(`${method} ${template} is declared twice`);
    leaf.methods.set(method, { value, names });
    if (names.length === 0 && !template.includes('%')) this.#whole.set(template, leaf);
  }

  #leaf(segments: readonly Segment[]): Leaf<T> {
    let at = this.#root;
    for (const segment of segments) {
      if (segment.kind === 'greedy') {
        at.greedy ??= { methods: new Map() };
        return at.greedy;
      }
      at = child(at, segment);
    }
    at.leaf ??= { methods: new Map() };
    return at.leaf;
  }

  /** `HEAD` is served by `GET` where it is not declared itself. */
  find(method: string, path: string): Match<T> | Miss {
    const whole = this.#whole.get(path);
    if (whole) return pick(whole, method, []) ?? this.#walk(method, path);
    return this.#walk(method, path);
  }

  #walk(method: string, path: string): Match<T> | Miss {
    if (path.charCodeAt(0) !== 47) return NO_PATH;
    const segments = path.slice(1).split('/');
    const search: Search = { method, segments, params: [], allow: null };
    const found = walk(this.#root, 0, search);
    if (found) return found;
    return search.allow ? { value: null, allow: [...search.allow].sort() } : NO_PATH;
  }
}

interface Search {
  readonly method: string;
  readonly segments: readonly string[];
  readonly params: string[];
  allow: Set<string> | null;
}

function child<T>(parent: Node<T>, segment: Exclude<Segment, { kind: 'greedy' }>): Node<T> {
  switch (segment.kind) {
    case 'static': {
      const found = parent.statics.get(segment.text) ?? node<T>();
      parent.statics.set(segment.text, found);
      return found;
    }
    case 'param':
      parent.param ??= node<T>();
      return parent.param;
    case 'pattern': {
      const key = segment.pattern.literals.join('\0');
      const found = parent.patterns.find((each) => each.pattern.literals.join('\0') === key);
      if (found) return found.node;
      const made = { pattern: segment.pattern, node: node<T>() };
      parent.patterns.push(made);
      // More literal text is more specific; equal lengths in a fixed order, so that no order of files matters.
      parent.patterns.sort(
        (a, b) => weight(b.pattern) - weight(a.pattern) || (order(a.pattern) < order(b.pattern) ? -1 : 1),
      );
      return made.node;
    }
  }
}

const order = (pattern: SegmentPattern) => pattern.literals.join('\0');
const weight = (pattern: SegmentPattern) => pattern.literals.reduce((sum, literal) => sum + literal.length, 0);

function walk<T>(at: Node<T>, depth: number, search: Search): Match<T> | null {
  const { segments, params } = search;
  if (depth === segments.length) return at.leaf ? end(at.leaf, search) : null;
  const segment = segments[depth] as string;
  const next = at.statics.get(decodeSegment(segment));
  if (next) {
    const found = walk(next, depth + 1, search);
    if (found) return found;
  }
  const mark = params.length;
  for (const { pattern, node: below } of at.patterns) {
    const values = matchPattern(pattern, segment);
    if (!values) continue;
    params.push(...values);
    const found = walk(below, depth + 1, search);
    if (found) return found;
    params.length = mark;
  }
  if (at.param && segment !== '') {
    params.push(segment);
    const found = walk(at.param, depth + 1, search);
    if (found) return found;
    params.length = mark;
  }
  if (at.greedy) {
    const rest = segments.slice(depth).join('/');
    if (rest !== '') {
      params.push(rest);
      const found = end(at.greedy, search);
      if (found) return found;
      params.length = mark;
    }
  }
  return null;
}

function end<T>(leaf: Leaf<T>, search: Search): Match<T> | null {
  const found = pick(leaf, search.method, search.params);
  if (found) return found;
  search.allow ??= new Set();
  for (const method of leaf.methods.keys()) {
    search.allow.add(method);
    if (method === 'GET') search.allow.add('HEAD');
  }
  return null;
}

function pick<T>(leaf: Leaf<T>, method: string, params: readonly string[]): Match<T> | null {
  const entry = leaf.methods.get(method) ?? (method === 'HEAD' ? leaf.methods.get('GET') : undefined);
  return entry ? { value: entry.value, params } : null;
}
