/** Compares what our parser reads out of the bytes of a connection with what the parser of node:http does. */
import { NodeReader } from './node-parser.ts';
import { cutAt, type Reading, type ReadMessage, type ReadOptions, readPieces } from './reading.ts';

interface Stricter {
  /** Code of our error. */
  readonly code: string;
  /** Whether the reason holds for the message that was refused. */
  readonly holds: (bytes: string, options: ReadOptions) => boolean;
  readonly why: string;
}

/** Where ours refuses what node:http takes. */
export const STRICTER: readonly Stricter[] = [
  {
    code: 'HPE_INVALID_TRANSFER_ENCODING',
    holds: (bytes) =>
      (bytes.match(/transfer-encoding:.*/gi) ?? []).some((field, i) => i > 0 || !/^.{17}: *chunked *$/i.test(field)),
    why: 'Nobody decodes a coding other than chunked: llhttp passes it on, and reads such a response up to the end.',
  },
  {
    code: 'HPE_INVALID_CONTENT_LENGTH',
    holds: (bytes) => /content-length:[^\r\n]*\t/i.test(bytes),
    why: 'llhttp 9.4.3, which Node.js carries, takes a tab behind the number; the one that undici carries does not.',
  },
  {
    code: 'HPE_INVALID_HEADER_TOKEN',
    holds: (bytes) => /connection:[^\r\n]*\t/i.test(bytes),
    why: 'The llhttp that undici carries overlooks what stands before a tab in Connection; Node.js does not.',
  },
  {
    code: 'HPE_CLOSED_CONNECTION',
    holds: (bytes) => /upgrade|connect/i.test(bytes),
    why: 'Node.js keeps back errors behind a message that asks for another protocol; nobody reads HTTP there.',
  },
  {
    code: 'HPE_STRICT',
    holds: (bytes, { kind }) => kind === 'response' && bytes.includes('\r\r'),
    why: 'llhttp takes a CR alone for an empty line before a message; before a response none stands before another CR.',
  },
  {
    code: 'HPE_INVALID_STATUS',
    holds: (bytes) => /\/\d\.\d +0\d\d/.test(bytes),
    why: 'A status below 100 has no meaning (RFC 9110, section 15); llhttp takes it.',
  },
  {
    code: 'HPE_HEADER_OVERFLOW',
    holds: (bytes, { mostHeadBytes }) => bytes.length > mostHeadBytes,
    why: 'The limit counts all bytes of a head, also empty lines before it; Node.js counts names, values, target and reason.',
  },
  {
    code: 'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    holds: (bytes) => bytes.length > 16 << 10,
    why: 'The limit counts all bytes between the data of two chunks; Node.js counts names and values of extensions.',
  },
];

const reader = new NodeReader();

/** What of two readings is not the same, in words; null if they agree. `bytes` in Latin-1. */
export function differenceOf(bytes: string, places: readonly number[], options: ReadOptions): string | null {
  const buffer = Buffer.from(bytes, 'latin1');
  const ours = readPieces([buffer], options);
  const cut = readPieces(cutAt(buffer, places), options);
  const byCut = unequal(ours, cut);
  if (byCut !== null) return `in pieces: ${byCut}`;
  const ends = ours.messages.map(({ end }) => end).filter((end) => end > 0);
  return unlikeNode(ours, reader.read(buffer, ends, options), bytes, options);
}

function unlikeNode(ours: Reading, node: Reading, bytes: string, options: ReadOptions): string | null {
  if (ours.failure !== null && node.failure === null) {
    const isKnown = STRICTER.some(({ code, holds }) => code === ours.failure && holds(bytes, options));
    if (!isKnown) return `refused (${ours.failure}), and node:http does not refuse it`;
    return unequalMessages(whole(ours), whole(node).slice(0, whole(ours).length));
  }
  if (node.failure !== null && ours.failure === null) return `accepted, and node:http refuses it (${node.failure})`;
  return ours.failure === null ? unequalMessages(ours.messages, node.messages) : unequalFailed(ours, node);
}

/** Both refuse: what came before is the same, unless one of them refuses it earlier, by a limit. */
function unequalFailed(ours: Reading, node: Reading): string | null {
  if (STRICTER.some(({ code }) => code === ours.failure))
    return unequalMessages(whole(ours), whole(node).slice(0, whole(ours).length));
  return unequalMessages(ours.messages, node.messages);
}

function whole({ messages }: Reading): readonly ReadMessage[] {
  return messages.filter(({ end }) => end >= 0);
}

function unequal(one: Reading, other: Reading): string | null {
  if (one.failure !== other.failure) return `${one.failure} ≠ ${other.failure}`;
  return unequalMessages(one.messages, other.messages);
}

function unequalMessages(ours: readonly ReadMessage[], others: readonly ReadMessage[]): string | null {
  const [one, other] = [JSON.stringify(ours), JSON.stringify(others)];
  return one === other ? null : `${one}\n≠ ${other}`;
}
