/** A value as the body of a response of some media type. */

import { isJson } from '../headers/media-type.ts';
import { isList, isObject, type Json } from '../spec/json.ts';

/** The smallest images: one pixel that cannot be seen. */
const IMAGES: Readonly<Record<string, Buffer>> = {
  'image/png': Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
  'image/gif': Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
};
const LINES: ReadonlySet<string> = new Set([
  ...['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/x-jsonlines'],
]);
const EVENTS = 'text/event-stream';
/** Before each text of a JSON text sequence (RFC 7464). */
const RECORD_SEPARATOR = '\u001e';

const isTextSequence = (type: string) => type === 'application/json-seq' || type.endsWith('+json-seq');

/** Reports whether bodies of the type are items, one after the other (OpenAPI 3.2, "Sequential Media Types"). */
export function isSequential(type: string): boolean {
  return type === EVENTS || LINES.has(type) || isTextSequence(type);
}

/** `given`: it is an example, whose text is the body, unchanged. */
export function renderBody(type: string, value: Json, given: boolean): Buffer | string {
  if (isJson(type)) return JSON.stringify(value);
  if (typeof value === 'string' && given) return value;
  const image = IMAGES[type];
  if (image !== undefined) return image;
  if (type === EVENTS) return events(value);
  if (LINES.has(type))
    return itemsOf(value)
      .map((each) => `${JSON.stringify(each)}\n`)
      .join('');
  if (isTextSequence(type))
    return itemsOf(value)
      .map((each) => `${RECORD_SEPARATOR}${JSON.stringify(each)}\n`)
      .join('');
  if (type === 'application/x-www-form-urlencoded' && isObject(value)) return form(value);
  if (type.endsWith('/xml') || type.endsWith('+xml')) return `<?xml version="1.0"?>${element('root', value)}`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the items of a list; any other value is the only item. */
export const itemsOf = (value: Json): readonly Json[] => (isList(value) ? value : [value]);

/** Fields of an event, in the order in which they are written. */
const FIELDS = ['event', 'id', 'retry', 'data'] as const;

function events(value: Json): string {
  return itemsOf(value)
    .map((each) => `${isEvent(each) ? event(each) : field('data', each)}\n`)
    .join('');
}

/** An object that has fields of events alone is one, and not the data of one. */
function isEvent(value: Json): value is { readonly [field: string]: Json } {
  const names = isObject(value) ? Object.keys(value) : [];
  return names.some((name) => name !== 'id') && names.every((name) => FIELDS.some((each) => each === name));
}

function event(value: { readonly [field: string]: Json }): string {
  return FIELDS.flatMap((name) => (value[name] === undefined ? [] : [field(name, value[name])])).join('');
}

/** Lines of data are fields of their own; the others have one line. */
function field(name: string, value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const lines = text.split(/\r\n?|\n/);
  return (name === 'data' ? lines : [lines.join(' ')]).map((line) => `${name}: ${line}\n`).join('');
}

function form(value: { readonly [name: string]: unknown }): string {
  const fields = Object.entries(value).map(([name, each]): [string, string] => {
    return [name, typeof each === 'string' ? each : JSON.stringify(each)];
  });
  return new URLSearchParams(fields).toString();
}

/** A name as XML has it; others are items. */
const XML_NAME = /^[A-Za-z_][\w.-]*$/;

function element(name: string, value: Json): string {
  const tag = XML_NAME.test(name) ? name : 'item';
  return `<${tag}>${content(value)}</${tag}>`;
}

function content(value: Json): string {
  if (value === null) return '';
  if (isList(value)) return value.map((each) => element('item', each)).join('');
  if (typeof value !== 'object') return escaped(String(value));
  return Object.entries(value)
    .map(([name, each]) => (isList(each) ? each.map((one) => element(name, one)).join('') : element(name, each)))
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Without characters that XML 1.0 has no way to write. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out
  return text.replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '').replaceAll(/[&<>]/g, (each) => ENTITIES[each] ?? each);
}
