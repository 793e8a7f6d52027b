/** An upstream of a test: says what it received, and misbehaves on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Upstream {
  readonly url: string;
  /** Requests so far. */
  readonly seen: (Pick<IncomingMessage, 'headers' | 'rawHeaders'> & { method: string; url: string; body: string })[];
  close(): Promise<void>;
}

export async function startUpstream(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void = echo,
): Promise<Upstream> {
  const seen: Upstream['seen'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers, rawHeaders } = request;
      seen.push({ method, url, headers, rawHeaders, body });
      answer(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function echo(request: IncomingMessage, response: ServerResponse, body: string): void {
  response.setHeader('content-type', 'application/json');
  response.setHeader('x-from', 'upstream');
  response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
}
