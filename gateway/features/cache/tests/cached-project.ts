/** Operations behind the `cache` plugin and an upstream that answers as each test wants, by path. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fixture } from '../../../../test/serve/fixture-plugin.ts';
import { compileSpec } from '../../../../test/serve/gateway.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

export type Answering = (request: IncomingMessage, response: ServerResponse) => void;

export interface CachedUpstream extends Upstream {
  /** By path; what has none is answered with method, target and a number that no other answer has. */
  readonly answers: Map<string, Answering>;
  /** How often a path was asked for. */
  asked(path: string): number;
}

export async function startCachedUpstream(): Promise<CachedUpstream> {
  const answers = new Map<string, Answering>();
  let made = 0;
  const upstream = await startUpstream((request, response) => {
    const answer = answers.get(pathOf(request.url));
    if (answer) return answer(request, response);
    response.end(`${request.method} ${request.url} ${++made}`);
  });
  return { ...upstream, answers, asked: (path) => upstream.seen.filter(({ url }) => pathOf(url) === path).length };
}

function pathOf(url = '/'): string {
  return url.split('?')[0] ?? '';
}

/** Answers with these headers, and with a body that no other answer has. */
export function fresh(headers: Record<string, string | string[]>, status = 200): Answering {
  return (request, response) => {
    response.writeHead(status, headers);
    response.end(`${request.url} ${crypto.randomUUID()}`);
  };
}

export interface Chain {
  readonly config?: object;
  /** Middlewares before the cache, and behind it. */
  readonly before?: readonly object[];
  readonly after?: readonly object[];
  /** More of the operation. */
  readonly operation?: object;
  readonly dispatch?: object;
}

export function cached(
  upstream: Upstream,
  { config = {}, before = [], after = [], operation = {}, dispatch }: Chain = {},
) {
  return {
    responses: { default: { description: 'any' } },
    'x-gw-middlewares': [...before, { name: 'cache', config }, ...after],
    'x-gw-dispatch': dispatch ?? { name: 'http-upstream', config: { url: upstream.url } },
    ...operation,
  };
}

/** For paths with `{name}`. */
export const named = { parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }] };

export function cachedArtifact(paths: object, title = 'Cached'): Promise<Uint8Array> {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    basic: { type: 'http', scheme: 'basic' },
  };
  const plugins = ['http-upstream', 'mock', 'cache', 'apikey-auth', 'rate-limit', 'cors', 'response-transformer'];
  return compileSpec(
    { openapi: '3.1.0', info: { title, version: '1' }, paths, components: { securitySchemes } },
    plugins,
    [fixture('stream-upper')],
  );
}
