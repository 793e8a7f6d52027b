/** Errors after which the embedded database is opened again (docs/reference/control-plane.md#database). */
import { expect, it } from 'vitest';
import { panicIn } from './pglite-worker.ts';

function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}....${body}`);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

const error = (severity: string) => message('E', `S${severity}\0V${severity}\0C53100\0MNo space left on device\0\0`);
const ready = message('Z', 'I');

it.each([
  ['a panic', [error('PANIC')], 'No space left on device'],
  [
    'a panic behind other messages',
    [message('1', ''), message('D', 'VPANIC\0'), error('FATAL')],
    'No space left on device',
  ],
  ['an error of a statement', [error('ERROR'), ready], null],
  ['an error of a statement, before the session is ready again', [error('ERROR')], null],
  ['rows', [message('D', 'VPANIC\0'), message('C', 'SELECT 1\0'), ready], null],
  ['nothing', [], null],
  ['half a message', [error('PANIC').subarray(0, 4)], null],
])('%s is told from the others', (_what, messages, expected) => {
  expect(panicIn(Buffer.concat(messages))).toBe(expected);
});
