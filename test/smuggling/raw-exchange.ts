/** Sends bytes over a bare socket, and reads the answers that come back until the connection ends. */
import { connect } from 'node:net';

/** Milliseconds after which a connection that neither side closes is given up. */
const PATIENCE_MS = 8000;

/**
 * Sends a request and, behind it, another that asks for the end of the connection. What comes back, in order: the
 * status of each refusal, and of what was answered by the upstream its echo (`GET /after`); last, `open` where the
 * server did not end the connection.
 */
export function exchange(port: number, bytes: string): Promise<string[]> {
  const after = 'GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(bytes + after, 'latin1')));
    const chunks: Buffer[] = [];
    const finish = (end: readonly string[]) => {
      clearTimeout(late);
      socket.destroy();
      resolve([...answersIn(Buffer.concat(chunks).toString('latin1')), ...end]);
    };
    const late = setTimeout(() => finish(['open']), PATIENCE_MS);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A reset after the answer is a close, too: the server had not read all that we sent.
    socket.on('error', () => {});
    socket.on('close', () => finish([]));
  });
}

const HEAD = /^HTTP\/1\.[01] (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/;

function answersIn(text: string): string[] {
  const answers: string[] = [];
  let rest = text;
  while (rest !== '') {
    const [head = '', status = '', fields = ''] = HEAD.exec(rest) ?? [];
    if (head === '') return [...answers, 'not HTTP/1.1'];
    const length = Number(/^content-length: *(\d+)/im.exec(fields)?.[1] ?? 0);
    const body = rest.slice(head.length, head.length + length);
    if (status !== '100') answers.push(status === '200' ? body : status);
    rest = rest.slice(head.length + length);
  }
  return answers;
}
