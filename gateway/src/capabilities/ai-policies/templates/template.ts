/** A template of the config: messages whose texts have places for values. */
import type { Json } from '../../../artifact/format.ts';
import { isList } from '../../../spec/json.ts';
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
  /** Of the values that its texts have places for. */
  readonly names: ReadonlySet<string>;
  readonly #messages: readonly TemplateMessage[];

  constructor(messages: Json | undefined) {
    this.#messages = addedMessages(messages).map(({ role, content }) => ({ role, pieces: piecesOf(content) }));
    this.names = new Set(this.#pieces().flatMap((piece) => ('name' in piece ? [piece.name] : [])));
  }

  /** Characters of all its texts with these values, without making them. */
  lengthWith(values: ReadonlyMap<string, string>): number {
    return this.#pieces().reduce((sum, piece) => sum + textOf(piece, values).length, 0);
  }

  /** Values are text of their message, whatever they have: they are looked into for no place. */
  filled(values: ReadonlyMap<string, string>): readonly AddedMessage[] {
    return this.#messages.map(({ role, pieces }) => ({
      role,
      content: pieces.map((piece) => textOf(piece, values)).join(''),
    }));
  }

  #pieces(): readonly Piece[] {
    return this.#messages.flatMap(({ pieces }) => pieces);
  }
}

export function addedMessages(messages: Json | undefined): readonly AddedMessage[] {
  if (!isList(messages)) return [];
  return messages.map(objectOf).map(({ role, content }) => ({ role: String(role), content: String(content) }));
}

function textOf(piece: Piece, values: ReadonlyMap<string, string>): string {
  return 'name' in piece ? (values.get(piece.name) ?? '') : piece.text;
}

/** Texts and names take turns where a text is split at places. */
function piecesOf(content: string): readonly Piece[] {
  return content
    .split(PLACE)
    .map((part, i) => (i % 2 === 1 ? { name: part } : { text: part }))
    .filter((piece) => !('text' in piece) || piece.text !== '');
}
