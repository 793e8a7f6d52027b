/**
 * Text of others for terminals and logs, with those characters escaped that could change a terminal or the order in
 * which people read: controls (U+009B begins a command of some terminals), directions of writing, line separators.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not reach a terminal
const CONTROLS = /[\u0000-\u001f]/g;
const BEYOND_JSON = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes all of them, line ends too. */
export function printable(text: string): string {
  return printableLines(text).replace(CONTROLS, escaped);
}

/**
 * Escapes what JSON does not, and leaves line ends and colours alone. JSON stays valid and means the same: these
 * characters occur in its strings alone.
 */
export function printableLines(text: string): string {
  return text.replace(BEYOND_JSON, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
