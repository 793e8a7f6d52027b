/**
 * Messages as lines of JSON over a stream. For calls during a request: a message of Node.js's own channel costs several
 * times as much.
 */
import type { Duplex } from 'node:stream';
import type { ChannelPort } from './channel.ts';

export function linePort(stream: Duplex): ChannelPort {
  // The other side has ended; the watcher of its process reports that.
  stream.on('error', () => {});
  return {
    send: (message) => void stream.write(`${JSON.stringify(message)}\n`),
    receive(listener) {
      let rest = '';
      stream.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) listener(JSON.parse(line));
      });
    },
  };
}
