/** Edits YAML text by pieces, so that other text stays byte for byte; else through its parsed document. */
import { pointerTokens } from '@gw/gateway/spec';
import { type Document, isMap, isScalar, isSeq, type Node, parseDocument, stringify, type YAMLMap } from 'yaml';
import type { Edit } from './edit.ts';

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Pair = YAMLMap['items'][number];

/** Yields possible results of the edits, the most careful first; the caller checks which of them is right. */
export function* editYaml(text: string, edits: readonly Edit[]): Iterable<string> {
  const document = parseDocument(text, { logLevel: 'silent', strict: false, uniqueKeys: false });
  const spliced = spliceYaml(text, document, edits);
  if (spliced !== null) yield spliced;
  const rewritten = rewriteYaml(document, edits);
  if (rewritten !== null) yield rewritten;
}

/** Returns null if a place is reached through an alias, or its pieces overlap. */
function spliceYaml(text: string, document: Document, edits: readonly Edit[]): string | null {
  const splices: Splice[] = [];
  for (const { pointer, changes } of edits) {
    const map = mapAt(document.contents, pointerTokens(pointer) ?? []);
    if (!map) return null;
    for (const [key, value] of changes) {
      const splice = map.flow ? spliceFlow(text, map, key, value) : spliceBlock(text, map, key, value);
      if (splice === null) return null;
      splices.push(splice);
    }
  }
  splices.sort((a, b) => a.start - b.start || a.end - b.end);
  if (splices.some(({ start }, i) => start < (splices[i - 1]?.end ?? 0))) return null;
  let at = 0;
  const parts = splices.map((splice) => {
    const part = text.slice(at, splice.start) + splice.text;
    at = splice.end;
    return part;
  });
  return parts.join('') + text.slice(at);
}

function spliceBlock(text: string, map: YAMLMap, key: string, value: unknown): Splice | null {
  const first = rangeOf(map.items[0]?.key);
  const found = map.items.find((pair) => isKey(pair, key));
  if (!first) return null;
  const column = first.start - lineStart(text, first.start);
  const pair = value === undefined ? '' : blockPair(text, key, value, column);
  if (!found) {
    const last = endOf(text, map.items.at(-1));
    if (last === null) return null;
    const end = nextLine(text, last);
    const newline = newlineOf(text);
    const before = text[end - 1] === '\n' ? '' : newline;
    return { start: end, end, text: `${before}${' '.repeat(column)}${pair}${newline}` };
  }
  const start = rangeOf(found.key)?.start;
  const end = endOf(text, found);
  if (start === undefined || end === null) return null;
  if (value !== undefined) return { start, end, text: pair };
  // Removes whole lines, unless other text precedes on the line, such as the dash of a list.
  const own = /^[ \t]*$/.test(text.slice(lineStart(text, start), start));
  return own ? { start: lineStart(text, start), end: nextLine(text, end), text: '' } : null;
}

function spliceFlow(text: string, map: YAMLMap, key: string, value: unknown): Splice | null {
  const at = map.items.findIndex((pair) => isKey(pair, key));
  const [before, found, next] = [map.items[at - 1], map.items[at], map.items[at + 1]];
  if (!found) {
    const last = endOf(text, map.items.at(-1));
    return last === null ? null : { start: last, end: last, text: `, ${key}: ${JSON.stringify(value)}` };
  }
  const start = rangeOf(found.key)?.start;
  const end = endOf(text, found);
  if (start === undefined || end === null) return null;
  if (value !== undefined) return { start, end, text: `${key}: ${JSON.stringify(value)}` };
  if (before) return { start: endOf(text, before) ?? start, end, text: '' };
  return { start, end: rangeOf(next?.key)?.start ?? end, text: '' };
}

/** Comments stay; the layout becomes the library's. */
function rewriteYaml(document: Document, edits: readonly Edit[]): string | null {
  try {
    for (const { pointer, changes } of edits) {
      const tokens = pointerTokens(pointer) ?? [];
      for (const [key, value] of changes) {
        if (value === undefined) document.deleteIn([...tokens, key]);
        else document.setIn([...tokens, key], document.createNode(value, { aliasDuplicateObjects: false }));
      }
    }
    return document.toString({ lineWidth: 0 });
  } catch {
    // A path through an alias, or an alias without an anchor.
    return null;
  }
}

function mapAt(root: unknown, tokens: readonly string[]): YAMLMap | null {
  let node = root;
  for (const token of tokens) {
    if (isMap(node)) node = node.items.find((pair) => isKey(pair, token))?.value;
    else if (isSeq(node)) node = node.items[Number(token)];
    else return null;
  }
  return isMap(node) ? node : null;
}

function isKey({ key }: Pair, name: string): boolean {
  return isScalar(key) && String(key.value) === name;
}

function rangeOf(node: unknown): { readonly start: number; readonly end: number } | null {
  const range = (node as Node | null | undefined)?.range;
  return range ? { start: range[0], end: range[1] } : null;
}

/** Returns the end of a pair's text, without the line break. */
function endOf(text: string, pair: Pair | undefined): number | null {
  const end = rangeOf(pair?.value)?.end;
  if (end === undefined) return null;
  return text.slice(0, end).trimEnd().length;
}

function blockPair(text: string, key: string, value: unknown, column: number): string {
  const lines = stringify({ [key]: value }, { lineWidth: 0, aliasDuplicateObjects: false })
    .trimEnd()
    .split('\n');
  return lines.map((line, i) => (i > 0 && line !== '' ? ' '.repeat(column) + line : line)).join(newlineOf(text));
}

const newlineOf = (text: string): string => (/\r\n/.test(text) ? '\r\n' : '\n');

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

/** Returns the start of the next line; the end of the text on the last line. */
function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}
