/**
 * An upstream's prompts, resources and templates of resources: their offered forms, or the reasons why they are not
 * offered.
 */
import { get, isObject, type Obj } from '../../spec/json.ts';
import { MOST_DEFINITION, NAME, textOf } from './definition.ts';

export interface OfferedEntry {
  /** Key for clients: name with prefix, URI or template. */
  readonly key: string;
  /** The same as the upstream says it. */
  readonly own: string;
  /** JSON for clients. */
  readonly listed: string;
}

/** Characters of a URI. */
const MOST_URI = 2_048;
const TEXTS = ['title', 'description', 'mimeType'];

/** A text says why it is not offered. */
export function offeredPrompt(given: Obj, prefix: string): OfferedEntry | string {
  const { name: own, arguments: args = [] } = given;
  const key = `${prefix}${textOf(own)}`;
  if (typeof own !== 'string' || !NAME.test(key))
    return 'its name has other characters than A-Z a-z 0-9 _ . / -, or is too long';
  if (!Array.isArray(args) || !args.every(isArgument)) return 'its arguments are not valid';
  return told({ ...given, name: key }, key, own);
}

function isArgument(given: unknown): boolean {
  const [description, required] = [get(given, 'description'), get(given, 'required')];
  return (
    typeof get(given, 'name') === 'string' &&
    (description === undefined || typeof description === 'string') &&
    (required === undefined || typeof required === 'boolean')
  );
}

export function offeredResource(given: Obj): OfferedEntry | string {
  const { uri, size } = given;
  if (typeof uri !== 'string' || uri.length > MOST_URI || !URL.canParse(uri)) return 'its "uri" is not valid';
  if (size !== undefined && typeof JSON.parse(JSON.stringify(size)) !== 'number') return 'its "size" is not a number';
  return typeof given['name'] === 'string' ? told(given, uri, uri) : 'its "name" is not a string';
}

export function offeredTemplate(given: Obj): OfferedEntry | string {
  const { uriTemplate: template } = given;
  if (typeof template !== 'string' || template.length > MOST_URI) return 'its "uriTemplate" is not valid';
  return typeof given['name'] === 'string' ? told(given, template, template) : 'its "name" is not a string';
}

/** Clients reject a whole list if one of its members is of another type than the protocol says. */
function told(entry: Obj, key: string, own: string): OfferedEntry | string {
  const wrong = TEXTS.find((name) => entry[name] !== undefined && typeof entry[name] !== 'string');
  if (wrong !== undefined) return `its "${wrong}" is not a string`;
  for (const name of ['annotations', '_meta']) {
    if (entry[name] !== undefined && !isObject(entry[name])) return `its "${name}" is not an object`;
  }
  const listed = JSON.stringify(entry);
  return listed.length > MOST_DEFINITION ? `it has more than ${MOST_DEFINITION} characters` : { key, own, listed };
}
