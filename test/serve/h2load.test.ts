/** Many streams at once, from nghttp2's own client: every request is answered, over h2c and TLS. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, startGateway } from './gateway.ts';
import { makeCertificate } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const run = promisify(execFile);
const REQUESTS = 2000;

const H2LOAD: boolean = (() => {
  try {
    return execFileSync('h2load', ['--version'], { encoding: 'utf8' }).startsWith('h2load');
  } catch {
    return false;
  }
})();

describe.skipIf(!H2LOAD && process.env['GW_NO_SKIP'] !== '1')('h2load (needs h2load)', () => {
  let dir: string;
  let upstream: Upstream;
  let artifact: Uint8Array;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-h2load-'));
    upstream = await startUpstream((_request, response) => void response.end('x'.repeat(20_000)));
    const operation = {
      responses: { 200: { description: 'OK' } },
      'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
    };
    const document = { openapi: '3.1.0', info: { title: 'h2load', version: '1' }, paths: { '/': { get: operation } } };
    artifact = await compileSpec(document, ['http-upstream']);
  });
  afterAll(async () => {
    await upstream?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each([
    ['h2c', []],
    ['TLS', ['h2']],
    ['HTTP/1.1 under TLS', ['http/1.1']],
  ])('gets every answer over %s', async (over, protocols) => {
    const tls = protocols.length > 0;
    const { cert, key } = makeCertificate(dir, over.replaceAll(/\W/g, ''));
    const gw = await startGateway(artifact, { args: tls ? ['--tls-cert', cert, '--tls-key', key] : [] });
    const url = tls ? gw.url.replace('http:', 'https:') : gw.url;
    const alpn = protocols.flatMap((each) => ['--npn-list', each]);
    const { stdout } = await run('h2load', ['-n', String(REQUESTS), '-c', '10', '-m', '50', ...alpn, `${url}/`]);
    expect(stdout).toContain(
      `${REQUESTS} total, ${REQUESTS} started, ${REQUESTS} done, ${REQUESTS} succeeded, 0 failed`,
    );
    expect(stdout).toContain(`status codes: ${REQUESTS} 2xx`);
    expect(await gw.stop()).toBe(0);
  });
});
