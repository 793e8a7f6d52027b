/**
 * Malformed and ambiguous requests as bytes, to `gw serve` and to nginx, both before an upstream that keeps what it
 * gets: what is refused does not arrive there, and nothing arrives that was not a request.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from '../serve/gateway.ts';
import { startUpstream, type Upstream } from '../serve/upstream.ts';
import { CASES } from './cases.ts';
import { renderHttpDoc } from './http-doc.ts';
import { NGINX, type Nginx, startNginx } from './nginx.ts';
import { DIFFERENCES } from './nginx-differences.ts';
import { exchange } from './raw-exchange.ts';

/** What arrives at the upstream, of answers. */
const passedOn = (answers: readonly string[]) => answers.filter((each) => /^[A-Z]+ \//.test(each));

describe('requests as bytes', () => {
  let recorder: { readonly upstream: Upstream; take(): string[] };
  let gw: Gateway;

  beforeAll(async () => {
    recorder = await startRecorder();
    gw = await startProxy(recorder.upstream.url);
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await recorder?.upstream.close();
  });

  it.each(CASES)('$name (RFC $rfc)', async ({ bytes, answers }) => {
    expect(await exchange(Number(new URL(gw.url).port), bytes)).toEqual(answers);
    expect(recorder.take()).toEqual(passedOn(answers));
  });

  it('leave no error of ours in the log', () => {
    expect(gw.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe.skipIf(!NGINX && process.env['GW_NO_SKIP'] !== '1')('nginx beside it (needs nginx)', () => {
  let recorder: { readonly upstream: Upstream; take(): string[] };
  let nginx: Nginx;
  const differs = new Map(DIFFERENCES.flatMap(({ cases, answers }) => cases.map((name) => [name, answers] as const)));

  beforeAll(async () => {
    recorder = await startRecorder();
    nginx = await startNginx(recorder.upstream.url);
  });
  afterAll(async () => {
    await nginx?.stop();
    await recorder?.upstream.close();
  });

  it.each(CASES)('$name', async ({ name, bytes, answers }) => {
    const came = await exchange(nginx.port, bytes);
    // It closes while we still send: the reset may take its answer with it.
    const lost = came.length === 0 && bytes.length > 64 << 10;
    if (!lost) expect(came).toEqual(differs.get(name) ?? answers);
  });
});

describe('the table of differences', () => {
  it('names cases that there are, once, and only such as differ', () => {
    const named = DIFFERENCES.flatMap(({ cases }) => cases);
    expect(new Set(named).size).toBe(named.length);
    for (const { cases, answers } of DIFFERENCES) {
      for (const name of cases) {
        const ours = CASES.find((each) => each.name === name)?.answers;
        expect(ours, name).toBeDefined();
        expect(ours, name).not.toEqual(answers);
      }
    }
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
  });

  it('is what docs/http.md says', () => {
    const file = join(import.meta.dirname, '..', '..', 'docs', 'http.md');
    expect(readFileSync(file, 'utf8')).toBe(renderHttpDoc());
  });
});

/** `gw serve` before the recorder: every path goes on to it. */
async function startProxy(upstream: string): Promise<Gateway> {
  const operation = {
    responses: { 200: { description: 'OK' } },
    'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
  };
  const path = { name: 'path', in: 'path', required: true, allowReserved: true, schema: { type: 'string' } };
  const methods = { get: operation, post: operation };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Proxy', version: '1' },
    paths: { '/': methods, '/{path+}': { parameters: [path], ...methods } },
  };
  const artifact = await compileSpec(document, ['http-upstream']);
  return startGateway(artifact, { args: ['--headers-timeout', '1', '--body-timeout', '1'] });
}

/** Answers `GET /x`, and with a body `POST /x "body"`. */
async function startRecorder(): Promise<{ readonly upstream: Upstream; take(): string[] }> {
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
