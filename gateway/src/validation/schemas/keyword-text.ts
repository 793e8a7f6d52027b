/**
 * Values of keywords as their document has written them: a schema of the table has them beside the keyword, as JSON, if
 * JavaScript cannot represent a number in them.
 */
import { readWithStandIns } from '../../json/stand-ins.ts';
import { isObject } from '../../spec/json.ts';

/** Keyword of the table of schemas: JSON of other keywords, by name. */
export const WRITTEN = 'x-gw-written';

export function writtenText(schema: unknown, keyword: string): string | undefined {
  const texts = isObject(schema) ? schema[WRITTEN] : undefined;
  const text = isObject(texts) && Object.hasOwn(texts, keyword) ? texts[keyword] : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Returns the value with stand-ins; undefined if the keyword has no number that needs one. */
export function writtenValue(schema: unknown, keyword: string): unknown {
  const text = writtenText(schema, keyword);
  return text === undefined ? undefined : readWithStandIns(text, true);
}
