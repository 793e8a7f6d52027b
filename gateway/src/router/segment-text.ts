/**
 * Readings of one segment of a path, in which the literals of a template are searched: percent-encoding a literal
 * changes nothing, and the text between two literals is taken as the client sent it.
 */

export interface SegmentText {
  readonly text: string;
  readonly raw: string;
  /** Position in `raw` of each character of `text`, and the end of the last one; null if the positions are the same. */
  readonly starts: readonly number[] | null;
}

/** A half of a surrogate pair, which no literal has by itself. */
const ESCAPED = '\ud800\ud800\ud800';

/**
 * First as it was sent, with encoded characters not counted as literals: that is mostly why they are encoded. Then
 * decoded.
 */
export function readingsOf(raw: string): readonly SegmentText[] {
  if (!raw.includes('%')) return [{ text: raw, raw, starts: null }];
  return [{ text: raw.replaceAll(/%[0-9a-f]{2}/gi, ESCAPED), raw, starts: null }, decodedText(raw)];
}

/** Returns the text between two of its characters, as it was sent. */
export function sentSlice({ raw, starts }: SegmentText, from: number, to: number): string {
  return starts === null ? raw.slice(from, to) : raw.slice(starts[from], starts[to]);
}

const PERCENT = 0x25;

/** Keeps malformed UTF-8 as it was sent. */
function decodedText(raw: string): SegmentText {
  const starts: number[] = [];
  let text = '';
  for (let at = 0; at < raw.length; ) {
    const sent = raw.slice(at, at + (raw.charCodeAt(at) === PERCENT ? escapesAt(raw, at) : 1));
    const decoded = sent.length > 1 ? decodedOrNull(sent) : null;
    const added = decoded ?? raw.charAt(at);
    for (let i = 0; i < added.length; i++) starts.push(at);
    text += added;
    at += decoded === null ? 1 : sent.length;
  }
  starts.push(raw.length);
  return { text, raw, starts };
}

/** Returns the length of one encoded character: `%C3%A9` has six. One if it is not encoded. */
function escapesAt(raw: string, at: number): number {
  const first = Number.parseInt(/^[0-9a-f]{2}/i.exec(raw.slice(at + 1, at + 3))?.[0] ?? '', 16);
  if (Number.isNaN(first)) return 1;
  if (first < 0xc0) return 3;
  return 3 * (first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4);
}

function decodedOrNull(sent: string): string | null {
  try {
    return decodeURIComponent(sent);
  } catch {
    return null;
  }
}
