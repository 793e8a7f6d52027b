/**
 * The thread of PGlite: takes messages of PostgreSQL's protocol and answers them, one after the other. It has one
 * session for all connections.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { messageOf } from '@gw/gateway/message-of';

/** Requests to the thread; `bytes` are whole messages of the protocol. */
export type PgliteRequest = { readonly connection: number; readonly bytes: Uint8Array } | { readonly close: true };

/** Replies of the thread: it is ready, data for a connection, or a failure. */
export type PgliteReply =
  | { readonly ready: true }
  | { readonly connection: number; readonly bytes: Uint8Array }
  | { readonly failure: string };

/** Memory for pages of the database. With PostgreSQL's default, 128 MB, the process takes 150 MB more. */
const SHARED_BUFFERS = '16MB';

/** Returns a message of the protocol with one query. */
function simpleQuery(text: string): Uint8Array {
  const message = Buffer.alloc(text.length + 6);
  message.write('Q');
  message.writeInt32BE(text.length + 5, 1);
  message.write(text, 5);
  return message;
}

const READY_FOR_QUERY = 0x5a;
const ERROR_RESPONSE = 0x45;

/** Returns the message of an error that ends the session, or the server; null without one. */
export function panicIn(answer: Uint8Array): string | null {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.length);
  // An ordinary answer ends with ReadyForQuery.
  if (bytes.at(-6) === READY_FOR_QUERY) return null;
  for (let at = 0; at + 5 <= bytes.length; ) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (bytes[at] === ERROR_RESPONSE) {
      const fields = bytes.toString('utf8', at + 5, end).split('\0');
      if (fields.some((field) => field === 'VPANIC' || field === 'VFATAL')) {
        return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'it panicked';
      }
    }
    at = Math.max(end, at + 5);
  }
  return null;
}

async function serve(port: NonNullable<typeof parentPort>, dataDir: string | undefined): Promise<void> {
  const startParams = [...PGlite.defaultStartParams, '-c', `shared_buffers=${SHARED_BUFFERS}`];
  const database = await PGlite.create({ startParams, ...(dataDir !== undefined && { dataDir }) });
  let current: number | null = null;
  const answer = async (request: PgliteRequest) => {
    if ('close' in request) {
      await database.close();
      return port.close();
    }
    // The connection before it may have broken within a transaction.
    if (current !== null && request.connection !== current) await database.execProtocolRaw(simpleQuery('rollback'));
    current = request.connection;
    // A copy: PGlite's result may be in memory that the next answer reuses.
    const bytes = new Uint8Array(await database.execProtocolRaw(request.bytes));
    const panic = panicIn(bytes);
    port.postMessage({ connection: current, bytes } satisfies PgliteReply, [bytes.buffer]);
    // A server would restart, and so does the thread: committed data is recovered when the database opens again.
    if (panic !== null) fail(port, new Error(panic));
  };
  let last: Promise<void> = Promise.resolve();
  port.on('message', (request: PgliteRequest) => {
    last = last.then(() => answer(request)).catch((error: unknown) => fail(port, error));
  });
  port.postMessage({ ready: true } satisfies PgliteReply);
}

function fail(port: NonNullable<typeof parentPort>, error: unknown): void {
  port.postMessage({ failure: messageOf(error) } satisfies PgliteReply);
  port.close();
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  const { dataDir }: { dataDir: string | undefined } = workerData;
  serve(port, dataDir).catch((error: unknown) => fail(port, error));
}
