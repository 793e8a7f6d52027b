/** Asks a running server: in revision 2026-07-28 if it speaks it, else in a session (docs/mcp.md#calls). */
import { type Asking, McpClient, type Session, type Stateless, statelessMeta } from '../../mcp/client/client.ts';
import type { McpTransport } from '../../mcp/client/transport.ts';
import { listAll } from '../../mcp/upstreams/catalogue.ts';
import type { Obj } from '../../spec/json.ts';
import { messageOf } from '../../text/message-of.ts';

/** Bytes of an answer: a server may be untrusted. */
const MOST_ANSWER = 16 << 20;

export interface McpServer {
  readonly url: string;
  /** Headers of each request, such as credentials. */
  readonly headers: readonly (readonly [string, string])[];
  /** For all requests together. */
  readonly signal: AbortSignal;
  /** Receives messages of the server before an answer. Default: they are ignored. */
  readonly onMessage?: (message: Obj) => void;
}

export interface Connection {
  readonly client: McpClient;
  readonly link: Stateless | Session;
  readonly asking: Asking;
}

/** Uses a session if the server speaks earlier revisions only, and ends it afterwards. */
export async function withServer<T>(server: McpServer, use: (connection: Connection) => Promise<T>): Promise<T> {
  const { url, headers, signal, onMessage } = server;
  const client = new McpClient(transportTo(url));
  const told = async (message: Obj) => {
    onMessage?.(message);
    return onMessage !== undefined;
  };
  const given = headers.flatMap(([header, value]) => [header.toLowerCase(), value]);
  const asking: Asking = { headers: given, signal, most: MOST_ANSWER, onMessage: told };
  if ((await client.discover(asking)) !== null) {
    return use({ client, link: { era: 'stateless', meta: statelessMeta() }, asking });
  }
  const session = await client.openSession(asking);
  try {
    return await use({ client, link: session, asking });
  } finally {
    await client.endSession(session, asking);
  }
}

/**
 * Returns the tools that a server lists. Throws McpRefusal, errors of the connection, and an error if the list is
 * endless.
 */
export function toolsOfServer({ client, link, asking }: Connection): Promise<readonly Obj[]> {
  return listAll('tools', client, link, asking);
}

function transportTo(url: string): McpTransport {
  return {
    async send({ method, headers, body, signal }) {
      const all = new Headers();
      for (let i = 0; i < headers.length; i += 2) all.append(headers[i] as string, headers[i + 1] as string);
      try {
        const answer = await fetch(url, { method, headers: all, body, redirect: 'error', signal });
        return {
          status: answer.status,
          headers: [...answer.headers].flat(),
          body: answer.body ?? empty(),
          cancel: () => void answer.body?.cancel().catch(() => {}),
        };
      } catch (error) {
        const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
        throw new Error(`${url} cannot be asked: ${cause}`, { cause: error });
      }
    },
  };
}

async function* empty(): AsyncGenerator<Uint8Array> {}
