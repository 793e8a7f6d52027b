/** Finds the line and column of JSON pointers in a text; only ever run when there is something to report. */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { JsonScanner } from './json-position.ts';
import { pointerTokens } from './pointer.ts';

/** Both from 1; columns in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Larger YAML gets no positions: a second parse of it would take seconds. */
const MAX_YAML = 24 << 20;

/** Positions of those pointers that are there; of others, that of the nearest parent. */
export function positions(text: string, pointers: readonly string[]): ReadonlyMap<string, Position> {
  const json = /^\s*\{/.test(text) ? scan(text, pointers) : null;
  if (json) return json;
  return text.length > MAX_YAML ? new Map() : yamlPositions(text, pointers);
}

/** Returns null if it is not JSON after all, such as a YAML flow mapping. */
function scan(text: string, pointers: readonly string[]): ReadonlyMap<string, Position> | null {
  const offsets = new JsonScanner(text, pointers).run();
  if (!offsets) return null;
  const counter = new LineCounter();
  for (let at = 0; at >= 0; at = text.indexOf('\n', at) + 1 || -1) counter.addNewLine(at);
  return new Map(pointers.map((pointer) => [pointer, positionOf(counter, nearest(offsets, pointer))]));
}

function nearest(offsets: ReadonlyMap<string, number>, pointer: string): number {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const offset = offsets.get(at);
    if (offset !== undefined) return offset;
  }
  return 0;
}

function yamlPositions(text: string, pointers: readonly string[]): ReadonlyMap<string, Position> {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, logLevel: 'silent', strict: false, uniqueKeys: false });
  return new Map(
    pointers.map((pointer) => [
      pointer,
      positionOf(counter, offsetOf(document.contents, pointerTokens(pointer) ?? [])),
    ]),
  );
}

/** Returns the offset of the key in a mapping, or of the item in a list. */
function offsetOf(root: unknown, tokens: readonly string[]): number {
  let node: unknown = root;
  let offset = startOf(node) ?? 0;
  for (const token of tokens) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === token);
      if (!pair) break;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(token)];
      offset = startOf(node) ?? offset;
    } else break;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function positionOf(counter: LineCounter, offset: number): Position {
  const { line, col } = counter.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
