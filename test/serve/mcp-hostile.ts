/** MCP servers that answer by hand, whatever the protocol says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANY_OBJECT } from './mcp-servers.ts';

interface HostileRequest {
  readonly id: unknown;
  readonly headers: IncomingHttpHeaders;
  /** To be answered by hand, where the answer is null. */
  readonly response: ServerResponse;
}

/** What it answers a method with: a result, a body as text, or null: nothing, or by hand. */
export type Hostile = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  request: HostileRequest,
) => object | string | null;

export interface HostileServer {
  readonly url: string;
  /** Methods that it was asked for. */
  readonly asked: string[];
  close(): void;
}

const DISCOVERED = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, resultType: 'complete' };

export const tool = (name: string, more: object = {}) => ({ name, inputSchema: ANY_OBJECT, ...more });
export const listing = (tools: readonly object[], more: object = {}) => ({ resultType: 'complete', tools, ...more });

/** Of revision 2026-07-28. */
export function hostile(answer: Hostile): Hostile {
  return (method, params, request) => (method === 'server/discover' ? DISCOVERED : answer(method, params, request));
}

export async function startHostile(answer: Hostile): Promise<HostileServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', params = {}, id } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      asked.push(method);
      const given = answer(method, params, { id, headers: request.headers, response });
      if (given === null) return;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(typeof given === 'string' ? given : JSON.stringify({ jsonrpc: '2.0', id, result: given }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
