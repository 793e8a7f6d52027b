/** Asks a running server: in revision 2026-07-28 where it speaks it, else in a session (docs/mcp.md#calls). */
import { type Asking, McpClient, type Session, type Stateless, statelessMeta } from '../mcp/client/client.ts';
import type { McpTransport } from '../mcp/client/transport.ts';
import { messageOf } from '../message-of.ts';
import type { Obj } from '../spec/json.ts';

/** Bytes of an answer: a server may be anybody's. */
const MOST_ANSWER = 16 << 20;

export interface McpServer {
  readonly url: string;
  /** Of each request, such as credentials. */
  readonly headers: readonly (readonly [string, string])[];
  /** For all requests together. */
  readonly signal: AbortSignal;
}

/** The result of the tool. Throws McpRefusal, and errors of the connection. */
export function callRemoteTool(server: McpServer, name: string, args: Obj): Promise<Obj> {
  const question = { method: 'tools/call', name, params: { name, arguments: args } };
  return withServer(server, (client, link, asking) => client.ask(question, link, asking));
}

/** In a session where the server speaks earlier revisions only, which ends afterwards. */
export async function withServer<T>(
  { url, headers, signal }: McpServer,
  use: (client: McpClient, link: Stateless | Session, asking: Asking) => Promise<T>,
): Promise<T> {
  const client = new McpClient(transportTo(url));
  const given = headers.flatMap(([header, value]) => [header.toLowerCase(), value]);
  const asking: Asking = { headers: given, signal, most: MOST_ANSWER };
  if ((await client.discover(asking)) !== null) {
    return use(client, { era: 'stateless', meta: statelessMeta() }, asking);
  }
  const session = await client.openSession(asking);
  try {
    return await use(client, session, asking);
  } finally {
    await client.endSession(session, asking);
  }
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
