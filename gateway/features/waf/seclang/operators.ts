/** Operators such as `@rx ^\d+$` or `!@within GET POST`. */
import { isIP } from 'node:net';
import { quoted } from './diagnostics.ts';
import { MAX_PHRASES } from './limits.ts';
import { parseText, plainText } from './macros.ts';
import type { Operator, OperatorArgument } from './model.ts';
import { NameTable } from './name-table.ts';
import { refuseName } from './names.ts';
import { PartFault, within } from './part-fault.ts';
import { translatePattern } from './patterns.ts';
import { trimmed } from './source.ts';
import { REFUSED_OPERATORS } from './unsupported.ts';
import { FILE_OPERATORS, OPERATORS, type OperatorName } from './vocabulary.ts';

/** Returns the content of the project's file with the name that a rule has; undefined if the project lacks the file. */
export type ReadData = (name: string) => Uint8Array | undefined;

const known = new NameTable(Object.keys(OPERATORS).map((name) => [name, name as OperatorName] as const));
const refused = new NameTable(Object.entries(REFUSED_OPERATORS));

/** Text without @ is a pattern. */
const PARTS = /^(!?)(?:@([A-Za-z0-9]*)[ \t]*)?([\s\S]*)$/;

/** Throws PartFault for an operator that is unknown, or whose argument is wrong. */
export function parseOperator(text: string, readData: ReadData): Operator {
  const match = PARTS.exec(text)!;
  const name = match[2] ?? 'rx';
  const argument = trimmed(match[3]!);
  const offset = text.length - match[3]!.length;
  const nameOffset = match[1]!.length + 1;
  const negated = match[1] === '!';
  const byFile = FILE_OPERATORS[name.toLowerCase()];
  if (byFile !== undefined) {
    const lines = within(offset, () => linesOf(argument, readData));
    const parse = byFile === 'pm' ? phrasesOf : networksOf;
    return { name: byFile, negated, argument: within(offset, () => parse(lines)) };
  }
  const operator = known.get(name)?.[1] ?? refuseName('operator', name, nameOffset, { known, refused });
  return { name: operator, negated, argument: within(offset, () => parseArgument(operator, argument)) };
}

function parseArgument(operator: OperatorName, argument: string): OperatorArgument {
  switch (OPERATORS[operator]) {
    case 'none':
      return noArgument(operator, argument);
    case 'pattern':
      return patternOf(argument);
    case 'text':
      return textOf(operator, argument);
    case 'number':
      return numberOf(operator, argument);
    case 'phrases':
      return phraseList(argument);
    case 'bytes':
      return bytesOf(argument);
    case 'networks':
      return networksOf(argument.split(','));
  }
}

function noArgument(operator: string, argument: string): OperatorArgument {
  if (argument !== '') throw new PartFault(0, `@${operator} has no argument`, `Remove ${quoted(argument)}.`);
  return { kind: 'none' };
}

function patternOf(argument: string): OperatorArgument {
  const macro = argument.search(/%\{[A-Za-z]/);
  if (macro >= 0)
    throw new PartFault(macro, 'patterns have no macros', 'Use @streq, @contains or @within with the macro.');
  return { kind: 'pattern', pattern: translatePattern(argument) };
}

function textOf(operator: string, argument: string): OperatorArgument {
  if (argument === '') throw new PartFault(0, `@${operator} has no argument`, 'Write the text behind the operator.');
  return { kind: 'text', text: parseText(argument) };
}

function numberOf(operator: string, argument: string): OperatorArgument {
  const text = parseText(argument);
  const plain = plainText(text);
  if (plain !== undefined && !/^[+-]?\d{1,15}$/.test(plain))
    throw new PartFault(
      0,
      `@${operator} compares numbers, and ${quoted(argument)} is not one`,
      'Write a whole number.',
    );
  return { kind: 'text', text };
}

function phraseList(argument: string): OperatorArgument {
  const hexPart = argument.search(/\|[0-9a-fA-F]{2}(?: [0-9a-fA-F]{2})*\|/);
  if (hexPart >= 0)
    throw new PartFault(
      hexPart,
      '@pm does not read bytes in hexadecimal between |',
      'Use @rx with \\x and two digits.',
    );
  return phrasesOf(argument.split(' '));
}

function phrasesOf(lines: readonly string[]): OperatorArgument {
  const phrases = [...new Set(lines.filter((line) => line !== '').map(lowerCase))];
  if (phrases.length === 0) throw new PartFault(0, 'there are no phrases', 'Write at least one phrase.');
  if (phrases.length > MAX_PHRASES)
    throw new PartFault(0, `more than ${MAX_PHRASES} phrases`, 'Leave phrases out that contain others.');
  return { kind: 'phrases', phrases };
}

/** Lowers ASCII letters only: characters from U+0080 are bytes. */
function lowerCase(bytes: string): string {
  return bytes.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function linesOf(name: string, readData: ReadData): readonly string[] {
  if (name === '') throw new PartFault(0, 'the operator names no file', 'Write the name of a file of the project.');
  const data = readData(name);
  if (data === undefined)
    throw new PartFault(
      0,
      `there is no file ${quoted(name)}`,
      'Add the file to the project beside the file of the rule.',
    );
  const lines = Buffer.from(data).toString('latin1').split('\n');
  return lines.map(trimmed).filter((line) => !/^#|^$/.test(line));
}

function bytesOf(argument: string): OperatorArgument {
  const allowed = new Uint8Array(256);
  for (const part of argument.split(',')) {
    const match = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(trimmed(part));
    const from = Number(match?.[1]);
    const to = Number(match?.[2] ?? match?.[1]);
    if (match === null || from > to || to > 255)
      throw new PartFault(0, `${quoted(part)} is not a range of bytes`, 'Write numbers from 0 to 255, as in 32-126,9.');
    allowed.fill(1, from, to + 1);
  }
  return { kind: 'bytes', ranges: rangesOf(allowed) };
}

function rangesOf(allowed: Uint8Array): readonly (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  for (let from = 0; from < 256; ) {
    let to = from;
    while (to < 256 && allowed[to] === 1) to++;
    if (to > from) ranges.push([from, to - 1]);
    from = to + 1;
  }
  return ranges;
}

function networksOf(parts: readonly string[]): OperatorArgument {
  return { kind: 'networks', networks: parts.map((part) => networkOf(trimmed(part))) };
}

function networkOf(text: string): string {
  const [address = '', prefix] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (bits < 0 || length < 0 || length > bits || text.split('/').length > 2 || address.includes('%'))
    throw new PartFault(0, `${quoted(text)} is not an address or network`, 'Write one such as 10.0.0.0/8 or ::1.');
  return `${address.toLowerCase()}/${length}`;
}
