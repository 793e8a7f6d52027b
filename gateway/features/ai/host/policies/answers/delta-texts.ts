/** The pieces of texts in a delta of a completion, at any depth, and the place for the rest of one. */

import { get, plainNumber } from '../../../../kit.ts';
import { isMembers } from './answer-texts.ts';

type Members = Record<string, unknown>;

/** Members whose values are pieces that a client puts together; others come whole. */
const PIECES: ReadonlySet<string> = new Set([
  ...['content', 'refusal', 'reasoning', 'reasoning_content', 'text', 'thinking', 'transcript', 'summary'],
  ...['arguments', 'input', 'partial_json', 'output_text', 'output', 'code'],
]);
const DEEPEST = 8;

/** A step to a piece: the name of a member, or of an element its `index`, or its place. */
type Step = string | number;

export interface DeltaPiece {
  /** The same for each piece of a text. */
  readonly path: readonly Step[];
  readonly isJson: boolean;
  readonly text: string;
  replace(text: string): void;
}

export function deltaPieces(delta: Members): DeltaPiece[] {
  const pieces: DeltaPiece[] = [];
  collect(delta, [], pieces);
  return pieces;
}

function collect(value: Members, path: readonly Step[], pieces: DeltaPiece[]): void {
  if (path.length > DEEPEST) return;
  for (const name of Object.keys(value)) {
    const member = get(value, name);
    const at = [...path, name];
    if (typeof member === 'string' && PIECES.has(name) && member !== '') {
      const replace = (text: string) => {
        value[name] = text;
      };
      pieces.push({ path: at, isJson: name === 'arguments' || name === 'partial_json', text: member, replace });
    } else if (isMembers(member)) collect(member, at, pieces);
    else if (Array.isArray(member)) {
      for (const [i, each] of member.entries()) if (isMembers(each)) collect(each, [...at, placeOf(each, i)], pieces);
    }
  }
}

function placeOf(element: Members, place: number): number {
  const index = plainNumber(get(element, 'index'));
  return typeof index === 'number' ? index : place;
}

/** Puts the rest of a text into a delta, behind the piece that stands there. */
export function addRest(delta: Members, path: readonly Step[], rest: string): void {
  let at: Members = delta;
  for (const [i, step] of path.slice(0, -1).entries()) {
    if (typeof step === 'number') continue;
    const element = path[i + 1];
    const member = get(at, step);
    if (typeof element === 'number') {
      const list: unknown[] = Array.isArray(member) ? member : [];
      const known = list.find((each, place) => isMembers(each) && placeOf(each, place) === element);
      const next: Members = isMembers(known) ? known : { index: element };
      if (known === undefined) list.push(next);
      at[step] = list;
      at = next;
    } else {
      const next: Members = isMembers(member) ? member : {};
      at[step] = next;
      at = next;
    }
  }
  const name = String(path.at(-1));
  const before = get(at, name);
  at[name] = (typeof before === 'string' ? before : '') + rest;
}
