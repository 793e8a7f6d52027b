/** Headers of a message, as plugins give them. */
import { HostCallError } from '../../../kit.ts';

export type MessageHeader = readonly [name: string, value: string];

const LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\r\n]*)$/;
const MOST = 256;

/** Out of `name: value` lines. */
export function messageHeaders(text: string): readonly MessageHeader[] {
  const headers: MessageHeader[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new HostCallError('a header of the message is not a line of "name: value"');
    }
    headers.push([name, value.trim()]);
  }
  if (headers.length > MOST) throw new HostCallError(`more than ${MOST} headers of a message`);
  return headers;
}
