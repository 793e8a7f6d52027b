/**
 * Characters with which text of clients could change a terminal or the order in which people read: C1 controls (U+009B
 * begins a command of some terminals), directions of writing, and line separators. JSON does not escape them.
 */
const UNPRINTABLE = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes them as JSON does. JSON stays valid and means the same: they occur in its strings alone. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
