/** The texts that a request has for a model, on every surface (docs/reference/plugins.md#ai-prompt-guard). */
import { get, isObject, type Obj } from '../../../spec/json.ts';
import { BESIDE, SAID } from '../../ai/request/prompt-members.ts';

/** A text, and how another takes its place. */
export interface TextPlace {
  readonly text: string;
  /** It is JSON, as arguments of calls are. */
  readonly isJson: boolean;
  replace(text: string): void;
}

export interface Prompt {
  /** Messages of a conversation; items of the input of a response. */
  readonly messages: number;
  /** Texts by the message that they are in; those beside the messages (`instructions`, `system`, `tools`) by their member. */
  readonly spoken: readonly (readonly TextPlace[])[];
}

/** Members that say what something is, and not what the model reads as text. */
const NO_TEXT = new Set([
  ...['type', 'role', 'id', 'call_id', 'tool_call_id', 'tool_use_id', 'name', 'status', 'detail', 'media_type'],
  ...['format', 'file_id', 'signature', 'encrypted_content'],
]);

export function promptOf(request: Obj): Prompt {
  let messages = 0;
  const spoken: TextPlace[][] = [];
  for (const name of SAID) {
    const list = get(request, name);
    messages += Array.isArray(list) ? list.length : typeof list === 'string' ? 1 : 0;
    if (!Array.isArray(list)) spoken.push(placesIn(request, name));
    else for (let i = 0; i < list.length; i++) spoken.push(placesIn(list, i));
  }
  for (const name of BESIDE) spoken.push(placesIn(request, name));
  return { messages, spoken: spoken.filter((places) => places.length > 0) };
}

type Container = Record<string, unknown> | unknown[];

/** Those of a member and of all that is in it; its depth was limited when it was parsed. */
function placesIn(container: Obj | unknown[], key: string | number): TextPlace[] {
  const places: TextPlace[] = [];
  collect(container as Container, key, places);
  return places;
}

function collect(container: Container, key: string | number, places: TextPlace[]): void {
  const value: unknown = Array.isArray(container) ? container[Number(key)] : get(container, String(key));
  if (typeof value === 'string') {
    if (isText(container, key, value)) places.push(placeOf(container, key, value));
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) collect(value, i, places);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      if (!NO_TEXT.has(name) || isObject(value[name])) collect(value, name, places);
    }
  }
}

/** Pictures and files are none, and long. */
function isText(container: Container, key: string | number, value: string): boolean {
  if (value === '' || /^data:[^,]{0,256};base64,/i.test(value)) return false;
  return key !== 'data' || (get(container, 'type') !== 'base64' && get(container, 'format') === undefined);
}

function placeOf(container: Container, key: string | number, text: string): TextPlace {
  return {
    text,
    isJson: key === 'arguments',
    replace(other) {
      if (Array.isArray(container)) container[Number(key)] = other;
      else
        Object.defineProperty(container, key, { value: other, enumerable: true, configurable: true, writable: true });
    },
  };
}
