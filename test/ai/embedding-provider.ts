/** A provider of embeddings whose vectors count the words of a text: texts with most of their words in common are near. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EmbeddingProvider {
  readonly url: string;
  /** Texts that it was asked for, with the credential that came with them. */
  readonly seen: { readonly text: string; readonly authorization: string | undefined }[];
  /** How it answers; it can be changed. Whatever it is, a text with `planted-STATUS` is refused so. */
  behaviour: 'well' | 'silent' | 'error' | 'garbage' | 'nothing' | 'huge';
  close(): Promise<void>;
}

/** So many that words of a test seldom share one. */
const SIZE = 2048;

export async function startEmbeddingProvider(): Promise<EmbeddingProvider> {
  const seen: EmbeddingProvider['seen'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { input, model }: { input: string; model: string } = JSON.parse(Buffer.concat(chunks).toString());
      seen.push({ text: input, authorization: request.headers.authorization });
      const data = (embedding: unknown) => JSON.stringify({ object: 'list', model, data: [{ index: 0, embedding }] });
      response.setHeader('content-type', 'application/json');
      const [, planted] = /planted-(\d{3})/.exec(input) ?? [];
      if (planted !== undefined) return void response.writeHead(Number(planted)).end('{"error":{}}');
      if (provider.behaviour === 'silent') return;
      if (provider.behaviour === 'error') response.statusCode = 500;
      if (provider.behaviour === 'garbage') return void response.end('<html>');
      if (provider.behaviour === 'nothing') return void response.end(data(Array(SIZE).fill(0)));
      if (provider.behaviour === 'huge') return void response.end(data(Array(1 << 20).fill(0.5)));
      response.end(data(wordCounts(input)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const provider: EmbeddingProvider = {
    url: `http://127.0.0.1:${port}`,
    seen,
    behaviour: 'well',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return provider;
}

function wordCounts(text: string): number[] {
  const counts: number[] = Array(SIZE).fill(0);
  for (const word of text.toLowerCase().match(/[\w-]+/g) ?? []) {
    const place = [...word].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7) % SIZE;
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}
