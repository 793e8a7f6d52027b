/** The upstream behind both gateways: answers with what it got, as text, and keeps it. */
import { startUpstream, type Upstream } from '../serve/upstream.ts';

/** Answers `GET /x`, and with a body `POST /x "body"`. */
export async function startRecorder(): Promise<{ readonly upstream: Upstream; take(): string[] }> {
  const upstream = await startUpstream(({ method = '', url = '' }, response, body) => {
    const text = described({ method, url, body });
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  });
  return { upstream, take: () => upstream.seen.splice(0).map(described) };
}

function described({ method, url, body }: { method: string; url: string; body: string }): string {
  return body === '' ? `${method} ${url}` : `${method} ${url} ${JSON.stringify(body)}`;
}
