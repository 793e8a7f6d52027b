/** A value as the body of a response of some media type. */
import { isList, isObject, type Json } from '../spec/json.ts';
import { isJson } from '../validation/media-type.ts';

/** The smallest images: one pixel that cannot be seen. */
const IMAGES: Readonly<Record<string, Buffer>> = {
  'image/png': Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
  'image/gif': Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
};
const LINES: ReadonlySet<string> = new Set(['application/x-ndjson', 'application/jsonl', 'application/x-jsonlines']);

/** `given`: it is an example, whose text is the body as it stands. */
export function renderBody(type: string, value: Json, given: boolean): Buffer | string {
  if (isJson(type)) return JSON.stringify(value);
  if (typeof value === 'string' && given) return value;
  const image = IMAGES[type];
  if (image !== undefined) return image;
  if (type === 'text/event-stream') return events(value);
  if (LINES.has(type))
    return items(value)
      .map((each) => `${JSON.stringify(each)}\n`)
      .join('');
  if (type === 'application/x-www-form-urlencoded' && isObject(value)) return form(value);
  if (type.endsWith('/xml') || type.endsWith('+xml')) return `<?xml version="1.0"?>${element('root', value)}`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const items = (value: Json): readonly Json[] => (isList(value) ? value : [value]);

function events(value: Json): string {
  const text = (each: Json) => (typeof each === 'string' ? each : JSON.stringify(each));
  return items(value)
    .map((each) => `data: ${text(each).replaceAll(/\r\n?|\n/g, '\ndata: ')}\n\n`)
    .join('');
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
