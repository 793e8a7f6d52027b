/** Sends the bytes of a connection in pieces, and reads the answers to them until the connection ends. */
import { connect } from 'node:net';
import { NUMBER_HEADER } from './recorder.ts';

/** Milliseconds after which a connection that neither side closes is given up. */
const PATIENCE_MS = 10_000;

/**
 * One answer: to a request that reached the upstream, with its number there; the status of a refusal; or bytes that are
 * no response of HTTP/1.1.
 */
export type PieceAnswer =
  | { readonly kind: 'passed'; readonly number: number }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'raw'; readonly text: string };

export interface Answered {
  readonly answers: readonly PieceAnswer[];
  /** The server ended the connection. */
  readonly isEnded: boolean;
}

export interface PiecesOf {
  readonly port: number;
  /** Address that the connection comes from. */
  readonly from: string;
  readonly pieces: readonly Buffer[];
}

export function sendPieces({ port, from, pieces }: PiecesOf): Promise<Answered> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
    const chunks: Buffer[] = [];
    const finish = (isEnded: boolean) => {
      clearTimeout(late);
      socket.destroy();
      resolve({ answers: answersIn(Buffer.concat(chunks).toString('latin1')), isEnded });
    };
    const late = setTimeout(() => finish(false), PATIENCE_MS);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A reset is an end, too: the server had not read all that was sent.
    socket.on('error', () => {});
    socket.on('close', () => finish(true));
    const sendFrom = (at: number): void => {
      const piece = pieces[at];
      if (piece !== undefined && socket.writable) socket.write(piece, () => setImmediate(sendFrom, at + 1));
    };
    socket.on('connect', () => sendFrom(0));
  });
}

const HEAD = /^HTTP\/1\.[01] (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/;
const NUMBER = new RegExp(`^${NUMBER_HEADER}: (\\d+)`, 'im');

function answersIn(text: string): PieceAnswer[] {
  const answers: PieceAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const [head = '', status = '', fields = ''] = HEAD.exec(rest) ?? [];
    if (head === '') return [...answers, { kind: 'raw', text: rest.slice(0, 80) }];
    rest = withoutBody(rest.slice(head.length), fields);
    if (status.startsWith('1')) continue;
    const number = NUMBER.exec(fields)?.[1];
    if (number === undefined) answers.push({ kind: 'refused', status: Number(status) });
    else answers.push({ kind: 'passed', number: Number(number) });
  }
  return answers;
}

/** Returns what follows the body. The answer to HEAD has none, and no body here begins as a response does. */
function withoutBody(text: string, fields: string): string {
  if (text.startsWith('HTTP/1.')) return text;
  const length = /^content-length: *(\d+)/im.exec(fields)?.[1];
  if (length !== undefined) return text.slice(Number(length));
  if (!/^transfer-encoding: *chunked/im.test(fields)) return '';
  const end = text.indexOf('0\r\n\r\n');
  return end < 0 ? '' : text.slice(end + 5);
}
