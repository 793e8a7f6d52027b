/** Text with macros such as `%{TX.0}`. */

import { quoted } from './diagnostics.ts';
import type { MacroPart, Text } from './model.ts';
import { isCollection, variableNamed } from './names.ts';
import { PartFault } from './part-fault.ts';

const MACRO = /^([A-Za-z_]+)(?:\.([\w.[\]-]+))?$/;

/** Throws PartFault for a macro that is not closed, or names no variable. */
export function parseText(text: string): Text {
  const parts: (string | MacroPart)[] = [];
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('%{', at);
    if (start < 0) {
      parts.push(text.slice(at));
      break;
    }
    if (start > at) parts.push(text.slice(at, start));
    const end = text.indexOf('}', start);
    if (end < 0) throw new PartFault(start, 'the macro is not closed', 'Write a closing brace, as in %{TX.0}.');
    parts.push(macroOf(text.slice(start + 2, end), start));
    at = end + 1;
  }
  return parts;
}

function macroOf(inside: string, start: number): MacroPart {
  const match = MACRO.exec(inside);
  if (match === null)
    throw new PartFault(
      start,
      `%{${quoted(inside).slice(1, -1)}} is not a macro`,
      'Write %{VARIABLE} or %{COLLECTION.name}, with letters, digits and . _ - [ ] in the name.',
    );
  const variable = variableNamed(match[1]!, start + 2);
  const key = match[2] ?? null;
  if (key !== null && !isCollection(variable))
    throw new PartFault(start, `${variable} has no members`, `Write %{${variable}}.`);
  return { variable, key };
}

/** Returns the text if it has no macros. */
export function plainText(text: Text): string | undefined {
  if (text.length === 0) return '';
  const [first] = text;
  return text.length === 1 && typeof first === 'string' ? first : undefined;
}
