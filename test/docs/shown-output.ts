/**
 * Whether a command printed what a page shows: line by line, where what differs from run to run (identifiers, hashes,
 * times, durations, sizes, ports) may differ, `…` stands for anything in a line, and a line `…` or `...` for any lines.
 */

interface Variable {
  readonly shown: RegExp;
  /** Pattern of what may be printed in its place; default that of `shown`. */
  readonly printed?: string;
  /** Where it comes up in a later command of the page, what was printed takes its place. */
  readonly again?: true;
}

/** What may differ. */
const VARIABLES: readonly Variable[] = [
  { shown: /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/, again: true },
  { shown: /(?:gwk|gwt)_[\w-]+…?/, again: true },
  { shown: /local-[\w-]{20,}/ },
  { shown: /sha256:[0-9a-f]+…?/, again: true },
  { shown: /\b[0-9a-f]{4,}…/, printed: '[0-9a-f-]+…?' },
  { shown: /\b(?=[0-9a-f]*\d)(?=[0-9]*[a-f])[0-9a-f]{12,64}\b/, printed: '[0-9a-f]+', again: true },
  { shown: /\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z?/ },
  { shown: /\b\d\d:\d\d:\d\d\b/ },
  { shown: /\b\d+(?:\.\d+)?(?: (?:ms|s)|ms|s|m(?:\d+s)?|h|d)\b/ },
  { shown: /\b\d[\d,]*(?:\.\d+)? (?:bytes|B|KiB|MiB)\b/ },
  { shown: /(?<=\d|localhost):\d{2,5}\b/ },
  { shown: /…/, printed: '.*' },
  { shown: /[ \t]+/ },
];
const ANY = new RegExp(VARIABLES.map(({ shown }) => `(${shown.source})`).join('|'), 'g');

export interface Match {
  /** What the page shows for something that came out otherwise, and what it was. */
  readonly values: ReadonlyMap<string, string>;
}

/** Null where it did not. Empty lines, and spaces at the ends of lines, do not count. */
export function matchOutput(shown: readonly string[], printed: string): Match | null {
  const names: string[] = [];
  const wanted = shown.map((line) => line.trim()).filter((line) => line !== '');
  const lines = wanted.map((line) => (/^(…|\.\.\.)$/.test(line) ? '(?:.*\n)*?' : `${patternOf(line, names)}\n`));
  const text = printed
    .replaceAll('\r', '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('');
  const found = new RegExp(`^${lines.join('')}$`).exec(text);
  if (!found) return null;
  const values = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const value = found[index + 1];
    if (value !== undefined && !values.has(name)) values.set(name, value);
  }
  return { values };
}

/** The pattern of one line; adds what its groups stand for to `names`. */
function patternOf(line: string, names: string[]): string {
  let pattern = '';
  let at = 0;
  for (const match of line.matchAll(ANY)) {
    const [text, ...groups] = match;
    const variable = VARIABLES[groups.findIndex((group) => group !== undefined)];
    const printed = variable?.printed ?? variable?.shown.source ?? '';
    pattern += RegExp.escape(line.slice(at, match.index)) + (variable?.again ? `(${printed})` : printed);
    if (variable?.again) names.push(text);
    at = match.index + text.length;
  }
  return pattern + RegExp.escape(line.slice(at));
}

/** The command with what was printed in the place of what the page shows. */
export function withValues(command: string, values: ReadonlyMap<string, string>): string {
  // Longest first: one may be the beginning of another.
  const shown = [...values.keys()].sort((one, other) => other.length - one.length);
  return shown.reduce((text, each) => text.replaceAll(each, values.get(each) ?? each), command);
}
