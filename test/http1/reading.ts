/** Messages that a parser read out of the bytes of one connection, in a form that two parsers can be compared by. */
import { type MessageHead, MessageParser } from '../../gateway/src/http1/message-parser.ts';
import { ParseError } from '../../gateway/src/http1/parse-error.ts';

export type Kind = 'request' | 'response';

export interface ReadMessage {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly version: string;
  readonly headers: readonly string[];
  readonly keepAlive: boolean;
  readonly upgrade: boolean;
  /** In Latin-1. */
  body: string;
  trailers: readonly string[];
  /** Bytes of the connection up to the end of the message; -1 if it is not whole. */
  end: number;
}

export interface Reading {
  readonly messages: ReadMessage[];
  /** Code of the error that ended it; null if the bytes are whole messages. */
  failure: string | null;
}

export interface ReadOptions {
  readonly kind: Kind;
  readonly mostHeadBytes: number;
  /** Responses answer HEAD. */
  readonly answersHead: boolean;
}

/** Reads pieces of a connection, and its end. */
export function readPieces(pieces: readonly Buffer[], { kind, mostHeadBytes, answersHead }: ReadOptions): Reading {
  const reading: Reading = { messages: [], failure: null };
  let message: ReadMessage | undefined;
  let isWhole = false;
  const parser = new MessageParser(
    kind,
    {
      head: (head) => {
        message = begun(head);
        reading.messages.push(message);
      },
      data: (chunk) => {
        if (message !== undefined) message.body += chunk.toString('latin1');
      },
      end: (trailers) => {
        if (message !== undefined) message.trailers = trailers;
        isWhole = true;
      },
    },
    mostHeadBytes,
  );
  parser.answersHead = answersHead;
  let offset = 0;
  const noteEnd = () => {
    if (isWhole && message !== undefined) message.end = offset;
    isWhole = false;
  };
  try {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; ) {
        const count = parser.read(piece.subarray(at));
        at += count;
        offset += count;
        noteEnd();
      }
    }
    parser.finish();
    noteEnd();
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    reading.failure = error.code;
  } finally {
    parser.free();
  }
  return reading;
}

function begun({ method, target, status, major, minor, headers, keepAlive, upgrade }: MessageHead): ReadMessage {
  const version = `${major}.${minor}`;
  return { method, target, status, version, headers, keepAlive, upgrade, body: '', trailers: [], end: -1 };
}

/** The bytes in pieces that end at such places. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places)].filter((each) => each > 0 && each < bytes.length).sort((a, b) => a - b);
  let from = 0;
  return [...ends, bytes.length].map((end) => {
    const piece = bytes.subarray(from, end);
    from = end;
    return piece;
  });
}

/** A piece for each byte. */
export function cutEverywhere(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
}
