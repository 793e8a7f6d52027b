/** Writes values of parameters in OpenAPI's styles: the counterpart of `validation/styles/styles.ts`. */
import type { FormField, Parameter } from '../artifact/format.ts';
import { isJson } from '../headers/media-type.ts';
import { isWrittenNumber, numberText } from '../json/exact-json.ts';
import { isObject, type Obj } from '../spec/json.ts';
import { ToolFault } from './tool-fault.ts';

/** A parameter, or a field of a form. */
export type Styled = Pick<FormField, 'name' | 'style' | 'explode' | 'content_type' | 'property_types'> &
  Partial<Pick<Parameter, 'in'>>;

type Encode = (text: string) => string;

/** A list or an object, and no number that is as it was written. */
export function isStructured(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isWrittenNumber(value);
}

export function hasMembers(value: unknown): value is Obj {
  return isObject(value) && !isWrittenNumber(value);
}

/** Everything but unreserved characters (RFC 3986, section 2.3): a value never is more than a value. */
export function percentEncoded(text: string): string {
  try {
    return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch {
    throw new ToolFault('A text has half of a surrogate pair.');
  }
}

/** `name=value` pairs of a query or a form, encoded. */
export function queryPairs(parameter: Styled, value: unknown): string[] {
  return pairs(parameter, value, percentEncoded).map(([name, text]) => `${percentEncoded(name)}=${text}`);
}

/** `name=value` pairs of a `Cookie` header. */
export function cookiePairs(parameter: Styled, value: unknown): string[] {
  const encode = parameter.style === 'cookie' ? cookieText : percentEncoded;
  return pairs(parameter, value, encode).map(([name, text]) => `${cookieName(name)}=${text}`);
}

function cookieText(text: string): string {
  if (/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(text)) return text;
  throw new ToolFault(
    'A cookie cannot have such a value: only visible ASCII without quotes, comma, semicolon and backslash.',
  );
}

function cookieName(name: string): string {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return name;
  throw new ToolFault(`A cookie cannot have the name ${JSON.stringify(name)}.`);
}

/** Each a name and its encoded text. */
function pairs(parameter: Styled, value: unknown, encode: Encode): [string, string][] {
  const { name, style, explode, content_type: type } = parameter;
  if (type !== undefined) return [[name, encode(contentText(type, value))]];
  if (style === 'deepObject' && isStructured(value)) return deepPairs(name, value, encode, 0);
  if (Array.isArray(value)) {
    const texts = value.map((each) => plainText(parameter, each));
    const items = texts.map(encode);
    const delimits = { spaceDelimited: ' ', pipeDelimited: '|' }[style as string];
    if (!explode && delimits !== undefined && texts.some((each) => each.includes(delimits))) {
      throw new ToolFault(`A value in "${name}" cannot have "${delimits}", which separates its values.`);
    }
    if (explode) return items.map((item) => [name, item]);
    return [[name, items.join({ spaceDelimited: '%20', pipeDelimited: '%7C' }[style as string] ?? ',')]];
  }
  if (!hasMembers(value)) return [[name, encode(plainText(parameter, value))]];
  const members = membersOf(parameter, value);
  if (explode) return members.map(([key, text]) => [key, encode(text)]);
  return [[name, members.flatMap(([key, text]) => [encode(key), encode(text)]).join(',')]];
}

/** Brackets in one name: as deep as they are read. */
const DEEPEST = 16;

function deepPairs(name: string, value: object, encode: Encode, depth: number): [string, string][] {
  if (depth >= DEEPEST) throw new ToolFault(`Argument "${name.split('[')[0]}" is nested too deeply.`);
  return Object.entries(value).flatMap(([key, each]): [string, string][] => {
    if (/[[\]]/.test(key)) throw new ToolFault(`A member of an argument cannot have the name ${JSON.stringify(key)}.`);
    const inner = `${name}[${key}]`;
    if (isStructured(each)) return deepPairs(inner, each, encode, depth + 1);
    return [[inner, encode(textOf(each))]];
  });
}

/** A path segment, or several of a greedy parameter, encoded. */
export function pathText(parameter: Styled, value: unknown, greedy: boolean): string {
  const encode = greedy ? (text: string) => text.split('/').map(percentEncoded).join('/') : percentEncoded;
  const { name, style, explode, content_type: type } = parameter;
  if (type !== undefined) return encode(contentText(type, value));
  if (style === 'label') return `.${listText(parameter, value, encode, explode ? '.' : ',')}`;
  if (style !== 'matrix') return listText(parameter, value, encode, ',');
  const key = encode(name);
  if (explode && Array.isArray(value)) {
    return value.map((each) => `;${key}=${encode(plainText(parameter, each))}`).join('');
  }
  if (explode && hasMembers(value)) return `;${listText(parameter, value, encode, ';')}`;
  return `;${key}=${listText(parameter, value, encode, ',')}`;
}

/** The value of a header. */
export function headerText(parameter: Styled, value: unknown): string {
  const { name, content_type: type } = parameter;
  const several = type === undefined && isStructured(value);
  const part: Encode = (text) => {
    if (!several || !/[,=]/.test(text)) return text;
    throw new ToolFault(`A value in "${name}" cannot have a comma or "=".`);
  };
  const text = type === undefined ? listText(parameter, value, part, ',') : contentText(type, value);
  // A line end would begin another header; characters past Latin-1 are not allowed.
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text) && text.trim() === text) return text;
  throw new ToolFault(
    `"${name}" is sent as a header: it cannot have line breaks, control characters or surrounding spaces.`,
  );
}

function listText(parameter: Styled, value: unknown, encode: Encode, delimiter: string): string {
  if (Array.isArray(value)) return value.map((each) => encode(plainText(parameter, each))).join(delimiter);
  if (!hasMembers(value)) return encode(plainText(parameter, value));
  const members = membersOf(parameter, value).map(([key, text]) => [encode(key), encode(text)] as const);
  return parameter.explode
    ? members.map(([key, text]) => `${key}=${text}`).join(delimiter)
    : members.flat().join(delimiter);
}

/**
 * Returns the members of an object that is written by members: only declared ones can be told from other parameters.
 */
function membersOf(parameter: Styled, value: object): [string, string][] {
  const known = parameter.property_types ?? {};
  return Object.entries(value).map(([key, each]) => {
    if (parameter.explode && !Object.hasOwn(known, key)) {
      throw new ToolFault(`"${parameter.name}" has no member ${JSON.stringify(key)}.`);
    }
    return [key, plainText(parameter, each)];
  });
}

function plainText({ name }: Styled, value: unknown): string {
  if (isStructured(value)) throw new ToolFault(`"${name}" cannot have lists or objects within it.`);
  return textOf(value);
}

/** Returns the text of an unstructured value. */
export function textOf(value: unknown): string {
  if (isWrittenNumber(value)) return numberText(value);
  return value === null || value === undefined ? '' : String(value);
}

/** Returns the text of a parameter that is declared with a media type. */
function contentText(type: string, value: unknown): string {
  return isJson(type) || value === null || isStructured(value) ? JSON.stringify(value) : textOf(value);
}
