/** Writes the heads of HTTP/1.1 messages. */
import type { HeaderList } from '../exchange.ts';
import { isFieldValue, isHttpToken } from '../headers/field-syntax.ts';

/** Names that were valid once; most heads have the same. */
const known = new Set<string>();
const MOST_KNOWN = 1000;

/** Returns the text with a line for each header. Throws TypeError if a name or value is not valid. */
export function addHeaders(text: string, headers: HeaderList): string {
  let all = text;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    if (!known.has(name)) checkName(name);
    if (!isFieldValue(value))
      throw new TypeError(`the value of the header ${name} holds a byte that must not be there`);
    all += `${name}: ${value}\r\n`;
  }
  return all;
}

function checkName(name: string): void {
  if (!isHttpToken(name)) throw new TypeError(`"${name}" is not the name of a header`);
  if (known.size < MOST_KNOWN) known.add(name);
}

let line = '';

/** Returns the line of the Date header, which is made once a second. */
export function dateLine(): string {
  if (line !== '') return line;
  const now = new Date();
  line = `Date: ${now.toUTCString()}\r\n`;
  setTimeout(() => {
    line = '';
  }, 1000 - now.getMilliseconds()).unref();
  return line;
}
