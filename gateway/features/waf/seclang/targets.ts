/** Lists of targets such as `ARGS|!ARGS:/^id_/|&REQUEST_HEADERS:Host`. */

import { quoted } from './diagnostics.ts';
import { MAX_LIST } from './limits.ts';
import type { Exclusion, Selector, Target, TargetList } from './model.ts';
import { isCollection, variableNamed } from './names.ts';
import { PartFault, within } from './part-fault.ts';
import { translatePattern } from './patterns.ts';
import type { VariableName } from './vocabulary.ts';

const NAME = /[A-Za-z_0-9]*/y;
const XPATHS = ['/*', '//@*'];

/** Throws PartFault for what is not a list of targets. */
export function parseTargets(text: string): TargetList {
  const targets: Target[] = [];
  const exclusions: Exclusion[] = [];
  for (let at = 0; ; ) {
    const mark = text[at] === '!' || text[at] === '&' ? text[at]! : '';
    const start = at + mark.length;
    const { variable, selector, end } = parseTarget(text, start);
    if (mark === '!') exclusions.push({ variable, selector });
    else targets.push({ variable, selector, count: mark === '&' });
    if (targets.length + exclusions.length > MAX_LIST)
      throw new PartFault(at, `more than ${MAX_LIST} targets`, 'Write a whole collection, or a pattern for its names.');
    if (end === text.length) return { targets, exclusions };
    if (text[end] !== '|')
      throw new PartFault(end, `${quoted(text.slice(end))} follows a target`, 'Separate targets by |.');
    at = end + 1;
  }
}

interface ReadTarget {
  readonly variable: VariableName;
  readonly selector: Selector | null;
  /** Offset behind the target. */
  readonly end: number;
}

function parseTarget(text: string, start: number): ReadTarget {
  NAME.lastIndex = start;
  const name = NAME.exec(text)?.[0] ?? '';
  if (name === '') throw new PartFault(start, 'a target is missing', 'Write a variable such as ARGS, or remove the |.');
  const variable = variableNamed(name, start);
  const colon = start + name.length;
  if (text[colon] !== ':') return { variable, selector: null, end: colon };
  if (!isCollection(variable))
    throw new PartFault(colon, `${variable} is one value, without members`, 'Remove the selector.');
  return { variable, ...(variable === 'XML' ? xpathAt(text, colon + 1) : selectorAt(text, colon + 1)) };
}

type ReadSelector = Pick<ReadTarget, 'selector' | 'end'>;

function xpathAt(text: string, start: number): ReadSelector {
  const end = endOfPlain(text, start);
  const path = text.slice(start, end);
  if (!XPATHS.includes(path))
    throw new PartFault(
      start,
      `the XPath expression ${quoted(path)} is not supported`,
      'Write XML:/* for the texts of all elements, or XML://@* for all attributes.',
    );
  return { selector: { kind: 'name', name: path }, end };
}

function selectorAt(text: string, start: number): ReadSelector {
  const isQuoted = text[start] === "'";
  const first = isQuoted ? start + 1 : start;
  const isPattern = text[first] === '/';
  const closing = isQuoted ? "'" : isPattern ? '/' : '|';
  const from = !isQuoted && isPattern ? first + 1 : first;
  const to = closing === '|' ? endOfPlain(text, from) : endBefore(text, from, closing);
  if (to < 0)
    throw new PartFault(start, `the selector has no closing ${closing}`, `Close it, and write \\${closing} inside it.`);
  const end = closing === '|' ? to : to + 1;
  if (!isPattern) return { selector: nameOf(text.slice(from, to), start), end };
  const inside = isQuoted ? slashless(text.slice(from, to), from) : text.slice(from, to);
  const pattern = within(isQuoted ? from + 1 : from, () => translatePattern(`(?i)${inside}`, 4));
  return { selector: { kind: 'pattern', pattern }, end };
}

function nameOf(name: string, offset: number): Selector {
  if (name === '') throw new PartFault(offset, 'the selector is empty', 'Write a name behind the colon, or remove it.');
  return { kind: 'name', name };
}

/** Text between the slashes of `'/…/'`. */
function slashless(text: string, offset: number): string {
  if (text.length < 2 || !text.endsWith('/'))
    throw new PartFault(offset, 'the pattern has no closing /', 'Write a slash before the closing quote.');
  return text.slice(1, -1);
}

function endOfPlain(text: string, from: number): number {
  const end = text.indexOf('|', from);
  return end < 0 ? text.length : end;
}

/** Returns the offset of the first closing character without a backslash before it, or -1. */
function endBefore(text: string, from: number, closing: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === closing) return at;
  }
  return -1;
}
