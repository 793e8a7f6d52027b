/** A template of the config: messages with places for values in their texts. */

import { isList, type Json } from '../../../../kit.ts';
import { objectOf } from '../profiles.ts';

/** A message that the config adds to a conversation. */
export interface AddedMessage {
  readonly role: string;
  readonly content: string;
}

/** Text as it stands, or the name of a value. */
type Piece = { readonly text: string } | { readonly name: string };

interface TemplateMessage {
  readonly role: string;
  readonly pieces: readonly Piece[];
}

const PLACE = /\{\{\s*([A-Za-z_]\w{0,63})\s*\}\}/g;

export class Template {
  readonly #messages: readonly TemplateMessage[];
  /** Characters of its texts without the values. */
  #length = 0;
  /** Number of places of each value, by name. */
  readonly #places = new Map<string, number>();

  constructor(messages: Json | undefined) {
    this.#messages = addedMessages(messages).map(({ role, content }) => ({ role, pieces: piecesOf(content) }));
    for (const piece of this.#messages.flatMap(({ pieces }) => pieces)) {
      if ('name' in piece) this.#places.set(piece.name, (this.#places.get(piece.name) ?? 0) + 1);
      else this.#length += piece.text.length;
    }
  }

  /** Names of its values. */
  get names(): readonly string[] {
    return [...this.#places.keys()];
  }

  has(name: string): boolean {
    return this.#places.has(name);
  }

  /** Characters of all its texts with these values, without making them. */
  lengthWith(values: ReadonlyMap<string, string>): number {
    return [...values].reduce((sum, [name, { length }]) => sum + (this.#places.get(name) ?? 0) * length, this.#length);
  }

  /** Values are text of their message, whatever they have: they are looked into for no place. */
  filled(values: ReadonlyMap<string, string>): readonly AddedMessage[] {
    return this.#messages.map(({ role, pieces }) => ({
      role,
      content: pieces.map((piece) => textOf(piece, values)).join(''),
    }));
  }
}

export function addedMessages(messages: Json | undefined): readonly AddedMessage[] {
  if (!isList(messages)) return [];
  return messages.map(objectOf).map(({ role, content }) => ({ role: String(role), content: String(content) }));
}

function textOf(piece: Piece, values: ReadonlyMap<string, string>): string {
  return 'name' in piece ? (values.get(piece.name) ?? '') : piece.text;
}

/** Splitting a text at places yields texts and names in turn. */
function piecesOf(content: string): readonly Piece[] {
  return content
    .split(PLACE)
    .map((part, i) => (i % 2 === 1 ? { name: part } : { text: part }))
    .filter((piece) => !('text' in piece) || piece.text !== '');
}
