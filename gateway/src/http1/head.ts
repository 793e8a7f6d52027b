/** Writes the heads of HTTP/1.1 messages. */
import { validateHeaderName } from 'node:http';
import type { HeaderList } from '../exchange.ts';

/** Names that were valid once; most heads have the same. */
const known = new Set<string>();
const MOST_KNOWN = 1000;

/** Bytes that a value must not hold (RFC 9110, section 5.5): an end of a line would begin another header. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Returns the text with a line for each header. Throws TypeError if a name or value is not valid. */
export function addHeaders(text: string, headers: HeaderList): string {
  let all = text;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    if (!known.has(name)) checkName(name);
    if (NOT_IN_VALUE.test(value))
      throw new TypeError(`the value of the header ${name} holds a byte that must not be there`);
    all += `${name}: ${value}\r\n`;
  }
  return all;
}

function checkName(name: string): void {
  validateHeaderName(name);
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
