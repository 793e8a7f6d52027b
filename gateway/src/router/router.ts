/**
 * Finds the operation for a method and a path: a tree of segments, built at load. Static segments win over patterns,
 * patterns over parameters, parameters over a greedy rest (docs/reference/gateway.md#routing); if the first choice
 * leads nowhere the next one is tried. Segments are compared percent-decoded, so `/%61` is `/a`, and an encoded slash
 * stays inside its segment.
 */
import { readingsOf } from './segment-text.ts';
import { mix, StaticChildren } from './static-children.ts';
import { decodeSegment, matchPattern, parseTemplate, type Segment, type SegmentPattern } from './template.ts';

/** A path's operations by method. */
interface Leaf<T> {
  /** Few, and their methods are the parser's own strings: comparing them is faster than looking one up. */
  readonly entries: Entry<T>[];
}

interface Entry<T> {
  readonly method: string;
  /** The match of a template without parameters, which is the same for every request. */
  readonly match: Match<T>;
}

interface Node<T> {
  readonly statics: StaticChildren<Node<T>>;
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

/** Nothing matched: `allow` has the path's methods, and is empty if the path does not exist. */
export interface Miss {
  readonly value: null;
  readonly allow: readonly string[];
}

const SLASH = 47;
const PERCENT = 37;
const NO_PARAMS: readonly string[] = [];
const NO_PATH: Miss = { value: null, allow: [] };

function node<T>(): Node<T> {
  return { statics: new StaticChildren(), patterns: [], param: null, greedy: null, leaf: null };
}

export class Router<T> {
  readonly #root: Node<T> = node();
  /** One for all, since a search ends before the next begins. */
  readonly #search: Search = { method: '', path: '', params: [], allow: null };

  /** Throws TemplateError for a malformed template, Error if path and method are taken. */
  add(method: string, template: string, value: T): void {
    const { segments } = parseTemplate(template);
    const leaf = this.#leaf(segments);
    if (entryOf(leaf, method)) throw new Error(`${method} ${template} is declared twice`);
    leaf.entries.push({ method, match: { value, params: NO_PARAMS } });
  }

  #leaf(segments: readonly Segment[]): Leaf<T> {
    let at = this.#root;
    for (const segment of segments) {
      if (segment.kind === 'greedy') {
        at.greedy ??= { entries: [] };
        return at.greedy;
      }
      at = child(at, segment);
    }
    at.leaf ??= { entries: [] };
    return at.leaf;
  }

  /** `HEAD` is served by `GET` unless it is declared itself. */
  find(method: string, path: string): Match<T> | Miss {
    if (path.charCodeAt(0) !== SLASH) return NO_PATH;
    const search = this.#search;
    search.method = method;
    search.path = path;
    const found = walk(this.#root, 1, search);
    if (found) return found;
    const { allow } = search;
    search.allow = null;
    return allow ? { value: null, allow: [...allow].sort() } : NO_PATH;
  }
}

interface Search {
  method: string;
  path: string;
  /** Parameters of the current search; a match takes them over. */
  params: string[];
  allow: Set<string> | null;
}

function child<T>(parent: Node<T>, segment: Exclude<Segment, { kind: 'greedy' }>): Node<T> {
  switch (segment.kind) {
    case 'static': {
      return parent.statics.add(segment.text, () => node<T>());
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

/** `start`: of the next segment; past the path's end after the last one. */
function walk<T>(at: Node<T>, start: number, search: Search): Match<T> | null {
  const { path, params } = search;
  const { length } = path;
  if (start > length) return at.leaf ? end(at.leaf, search) : null;
  let stop = start;
  let code = 0;
  let sum = 0;
  let encoded = false;
  for (; stop < length; stop++) {
    code = path.charCodeAt(stop);
    if (code === SLASH) break;
    if (code === PERCENT) encoded = true;
    sum = mix(sum, code);
  }
  const next = encoded
    ? at.statics.get(decodeSegment(path.slice(start, stop)))
    : at.statics.find(path, start, stop - start, sum);
  if (next) {
    const found = walk(next, stop + 1, search);
    if (found) return found;
  }
  const mark = params.length;
  if (at.patterns.length > 0) {
    const found = walkPatterns(at, start, stop, search);
    if (found) return found;
  }
  if (at.param && stop > start) {
    params.push(path.slice(start, stop));
    const found = walk(at.param, stop + 1, search);
    if (found) return found;
    params.length = mark;
  }
  if (at.greedy && start < length) {
    params.push(path.slice(start));
    const found = end(at.greedy, search);
    if (found) return found;
    params.length = mark;
  }
  return null;
}

function walkPatterns<T>(at: Node<T>, start: number, stop: number, search: Search): Match<T> | null {
  const { path, params } = search;
  const readings = readingsOf(path.slice(start, stop));
  const mark = params.length;
  for (const { pattern, node: below } of at.patterns) {
    const values = matchPattern(pattern, readings);
    if (!values) continue;
    params.push(...values);
    const found = walk(below, stop + 1, search);
    if (found) return found;
    params.length = mark;
  }
  return null;
}

function entryOf<T>({ entries }: Leaf<T>, method: string): Entry<T> | null {
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as Entry<T>;
    if (entry.method === method) return entry;
  }
  return null;
}

function end<T>(leaf: Leaf<T>, search: Search): Match<T> | null {
  const { method, params } = search;
  const entry = entryOf(leaf, method) ?? (method === 'HEAD' ? entryOf(leaf, 'GET') : null);
  if (entry) {
    search.allow = null;
    if (params.length === 0) return entry.match;
    search.params = [];
    return { value: entry.match.value, params };
  }
  search.allow ??= new Set();
  for (const { method } of leaf.entries) {
    search.allow.add(method);
    if (method === 'GET') search.allow.add('HEAD');
  }
  return null;
}
