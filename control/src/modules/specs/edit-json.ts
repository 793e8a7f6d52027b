/** Edits JSON text in place: all other text stays byte for byte. */
import { JsonScanner } from '@gw/gateway/spec';
import type { Edit } from './edit.ts';

/** A member of an object in a text. */
interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
  /** Exclusive. */
  readonly end: number;
}

/** `text`: valid JSON. Returns null if an object is not found. */
export function editJson(text: string, edits: readonly Edit[]): string | null {
  const offsets = new JsonScanner(
    text,
    edits.map(({ pointer }) => pointer),
  ).run();
  const located = edits.map((edit) => ({ edit, key: offsets?.get(edit.pointer) }));
  const parts: string[] = [];
  let at = 0;
  for (const { edit, key } of located.sort((a, b) => (a.key ?? 0) - (b.key ?? 0))) {
    if (key === undefined) return null;
    const start = skipSpace(text, skipSpace(text, skipString(text, key)) + 1);
    const end = skipValue(text, start);
    parts.push(text.slice(at, start), editObject(text.slice(start, end), edit.changes, indentAt(text, key)));
    at = end;
  }
  return parts.join('') + text.slice(at);
}

function editObject(object: string, changes: Edit['changes'], outer: string): string {
  let edited = object;
  for (const [key, value] of changes) edited = editMember(edited, key, value, outer);
  return edited;
}

function editMember(object: string, key: string, value: unknown, outer: string): string {
  const members = membersOf(object);
  // The last of equal keys counts.
  const at = members.findLastIndex((member) => member.key === key);
  const found = members[at];
  const style = styleOf(object, members, outer);
  if (value === undefined) return found ? removeMember(object, members, at) : object;
  const text = written(value, style);
  if (found) return object.slice(0, found.valueStart) + text + object.slice(found.end);
  const member = `${style.between}${JSON.stringify(key)}:${style.space}${text}`;
  const last = members.at(-1);
  if (last) return `${object.slice(0, last.end)},${member}${object.slice(last.end)}`;
  return `{${member}}`;
}

function removeMember(object: string, members: readonly Member[], at: number): string {
  const [before, member, next] = [members[at - 1], members[at], members[at + 1]];
  if (!member) return object;
  if (next) return object.slice(0, member.keyStart) + object.slice(next.keyStart);
  return object.slice(0, before ? before.end : 1) + object.slice(before ? member.end : object.length - 1);
}

/** Layout of an object: text before its keys and behind colons, and its indentation. */
interface Style {
  readonly between: string;
  readonly space: string;
  /** Indentation of the members, and of one level; null if all are on one line. */
  readonly indent: { readonly members: string; readonly step: string; readonly newline: string } | null;
}

function styleOf(object: string, [first, second]: readonly Member[], outer: string): Style {
  if (!first) return { between: '', space: ' ', indent: null };
  const space = object.slice(skipString(object, first.keyStart), first.valueStart).replace(/\s*:/, '');
  const [, newline, members = ''] = /(\r?\n)([ \t]*)$/.exec(object.slice(1, first.keyStart)) ?? [];
  if (newline === undefined) {
    const between = second ? object.slice(first.end, second.keyStart).replace(/\s*,/, '') : space;
    return { between, space, indent: null };
  }
  const step = members.startsWith(outer) ? members.slice(outer.length) : '';
  return {
    between: newline + members,

    space,
    indent: { members, step: step || '  ', newline },
  };
}

function written(value: unknown, { indent }: Style): string {
  if (!indent) return JSON.stringify(value);
  return JSON.stringify(value, null, indent.step).replaceAll('\n', indent.newline + indent.members);
}

/** Returns the white space at the beginning of an offset's line. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function membersOf(object: string): readonly Member[] {
  const members: Member[] = [];
  let at = skipSpace(object, 1);
  while (object[at] === '"') {
    const keyStart = at;
    const keyEnd = skipString(object, keyStart);
    const valueStart = skipSpace(object, skipSpace(object, keyEnd) + 1);
    const end = skipValue(object, valueStart);
    members.push({ key: String(JSON.parse(object.slice(keyStart, keyEnd))), keyStart, valueStart, end });
    at = skipSpace(object, end);
    if (object[at] === ',') at = skipSpace(object, at + 1);
  }
  return members;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (/[ \t\r\n]/.test(text[next] ?? '')) next++;
  return next;
}

/** Returns the offset behind the string that begins here. */
function skipString(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end + 1;
}

/** Returns the offset behind the value that begins here. */
function skipValue(text: string, at: number): number {
  let next = at;
  let depth = 0;
  do {
    const char = text[next];
    if (char === '"') next = skipString(text, next);
    else {
      if (char === '{' || char === '[') depth++;
      if (char === '}' || char === ']') depth--;
      next++;
      if (depth === 0 && !/[}\]]/.test(char ?? ''))
        while (next < text.length && !/[\s,\]}]/.test(text[next] ?? '')) next++;
    }
  } while (depth > 0 && next < text.length);
  return next;
}
