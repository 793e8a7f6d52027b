/** An AI provider that answers each model with what a test has written for it. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Script {
  /** Default: 200. */
  readonly status?: number;
  /** Beside the type of its body: JSON or events. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

interface ScriptedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface ScriptedProvider {
  readonly url: string;
  /** Requests that have come, by the model that they name. */
  requests(model: string): readonly ScriptedRequest[];
  /** Gives the answers to requests for a model: one after another, and then the last one again. */
  answers(model: string, ...scripts: readonly Script[]): void;
  close(): Promise<void>;
}

/** The body of a stream whose events have these data. */
export function eventsOf(...data: readonly (string | object)[]): string {
  return data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('');
}

/** The same for events that are named by their type. */
export function typedEventsOf(...data: readonly { readonly type: string; readonly [name: string]: unknown }[]): string {
  return data.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('');
}

export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const scripts = new Map<string, Script[]>();
  const seen: { readonly model: string; readonly request: ScriptedRequest }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const model = /"model"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? '';
      seen.push({ model, request: { path: request.url ?? '', headers: request.headers, text } });
      const left = scripts.get(model) ?? [];
      const script = left.length > 1 ? left.shift() : left[0];
      const { status = 200, headers = {}, body } = script ?? { status: 404, body: '{"error":{"message":"no script"}}' };
      const isEvents =
        Buffer.from(body).includes('data:') && !Buffer.from(body).subarray(0, 1).equals(Buffer.from('{'));
      const type = isEvents ? 'text/event-stream' : 'application/json';
      response.writeHead(status, { 'content-type': type, ...headers }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: (model) => seen.filter((each) => each.model === model).map(({ request }) => request),
    answers: (model, ...given) => void scripts.set(model, [...given]),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
