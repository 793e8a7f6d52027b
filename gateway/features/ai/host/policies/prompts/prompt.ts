/** The texts that a request has for a model, on every surface (docs/reference/plugins.md#ai-prompt-guard). */

import { get, isObject, isWrittenNumber, type Obj, type Steps } from '../../../../kit.ts';
import { type TextPlace, visitMember, visitName } from '../../proxy/request/json-texts.ts';
import { MESSAGE_LISTS } from '../../proxy/request/prompt-members.ts';

/** Its items are objects: a number in it is not text, however a provider reads it. */
const MESSAGES = 'messages';
/** Messages between two pauses. */
const SLICE = 256;

export interface Prompt {
  /** Messages of a conversation; items of the input of a response. */
  readonly messages: number;
  /** Texts by their message; those beside the messages (`instructions`, `system`, `tools`) by their member. */
  readonly spoken: readonly (readonly TextPlace[])[];
  /** Texts of messages of one role that follow one another: providers make one message of them. */
  readonly rows: readonly (readonly TextPlace[])[];
  /** Names of tools, ids and the like: they stay unchanged, but must not match a blocked pattern. */
  readonly labels: readonly string[];
  /** Some text comes as ids of tokens, which only its model can read. */
  readonly hasTokenIds: boolean;
}

/** Collects all members of the request: local servers read others than providers do. Yields if it can pause. */
export function* promptOf(request: Obj): Steps<Prompt> {
  let [messages, hasTokenIds] = [0, false];
  const spoken: TextPlace[][] = [];
  const rows: TextPlace[][] = [];
  const labels: string[] = [];
  const visitor = (hasLabels = true) => {
    const places: TextPlace[] = [];
    spoken.push(places);
    const text = (place: TextPlace) => places.push(place);
    return hasLabels ? { text, label: (label: string) => labels.push(label) } : { text };
  };
  const names = Object.keys(request);
  for (const name of names) {
    const list = get(request, name);
    const isSaid = MESSAGE_LISTS.includes(name);
    if (isSaid && name !== MESSAGES && Array.isArray(list)) hasTokenIds ||= list.some(isTokenIds);
    if (isSaid) messages += Array.isArray(list) ? list.length : typeof list === 'string' ? 1 : 0;
    // The model's own name selects the target; the model does not read it.
    if (!isSaid || !Array.isArray(list)) yield* visitMember(request, name, visitor(name !== 'model'));
    else {
      const first = spoken.length;
      for (let i = 0; i < list.length; i++) {
        yield* visitMember(list, i, visitor());
        if (i % SLICE === SLICE - 1) yield;
      }
      for (const row of rowsOf(list, spoken.slice(first))) rows.push(row);
    }
  }
  for (const name of names) visitName(request, name, visitor());
  return { messages, spoken: spoken.filter((places) => places.length > 0), rows, labels, hasTokenIds };
}

/** `spoken`: the texts of each message. */
function rowsOf(messages: readonly unknown[], spoken: readonly TextPlace[][]): TextPlace[][] {
  const rows: TextPlace[][] = [];
  for (let from = 0, end = 1; from < messages.length; from = end++) {
    const role = roleOf(messages[from]);
    while (end < messages.length && role !== null && roleOf(messages[end]) === role) end++;
    if (end - from > 1) rows.push(spoken.slice(from, end).flat());
  }
  return rows;
}

function roleOf(message: unknown): unknown {
  return isObject(message) ? (get(message, 'role') ?? null) : null;
}

/** An id, or a list of them. */
function isTokenIds(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isNumber) : isNumber(value);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || isWrittenNumber(value);
}
