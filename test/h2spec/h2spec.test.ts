/** The h2spec suite (generic, http2, hpack) against `gw serve`, over h2c and TLS. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, startGateway } from '../serve/gateway.ts';
import { makeCertificate } from '../serve/http.ts';
import { startUpstream, type Upstream } from '../serve/upstream.ts';
import { KNOWN_FAILURES } from './known-failures.ts';

const run = promisify(execFile);
/** Milliseconds: streams must still be open when the suite's next frame arrives. */
const ANSWER_TAKES_MS = 50;

const H2SPEC: boolean = (() => {
  try {
    return execFileSync('h2spec', ['--version'], { encoding: 'utf8' }).startsWith('Version');
  } catch {
    return false;
  }
})();

/** Cases of a JUnit report of the suite: section and name, and whether it failed. */
function casesOf(report: string): { readonly name: string; readonly failed: boolean }[] {
  const found = report.matchAll(/<testcase package="([^"]*)" classname="([^"]*)"[^>]*>(.*?)<\/testcase>/gs);
  return [...found].map(([, section, name, rest = '']) => ({
    name: `${section}: ${name}`.replaceAll('&#34;', '"').replaceAll('&#39;', "'"),
    failed: rest.includes('<failure') || rest.includes('<error'),
  }));
}

describe.skipIf(!H2SPEC && process.env['GW_NO_SKIP'] !== '1')('h2spec (needs h2spec)', () => {
  let dir: string;
  let upstream: Upstream;
  let artifact: Uint8Array;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-h2spec-'));
    upstream = await startUpstream((_request, response) => {
      setTimeout(() => response.end('hello'), ANSWER_TAKES_MS);
    });
    const operation = {
      responses: { 200: { description: 'OK' } },
      'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
    };
    const paths = { '/': { get: operation, post: operation, head: operation } };
    const document = { openapi: '3.1.0', info: { title: 'h2spec', version: '1' }, paths };
    artifact = await compileSpec(document, ['http-upstream']);
  });
  afterAll(async () => {
    await upstream?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each(['h2c', 'TLS'] as const)('over %s fails only where the table says so and why', async (over) => {
    const { cert, key } = makeCertificate(dir, over);
    const gw = await startGateway(artifact, { args: over === 'TLS' ? ['--tls-cert', cert, '--tls-key', key] : [] });
    const report = join(dir, `${over}.xml`);
    const port = new URL(gw.url).port;
    const tls = over === 'TLS' ? ['--tls', '--insecure'] : [];
    // It exits with 1 where a case fails.
    await run('h2spec', ['generic', 'http2', 'hpack', '-p', port, '-o', '2', '-j', report, ...tls]).catch(() => {});
    expect(await gw.stop()).toBe(0);
    const cases = casesOf(readFileSync(report, 'utf8'));
    expect(cases.length).toBeGreaterThan(140);
    const known = KNOWN_FAILURES.filter(({ only = over }) => only === over).map(({ name }) => name);
    const failed = cases.filter((each) => each.failed).map(({ name }) => name);
    expect(failed.toSorted()).toEqual(known.toSorted());
    expect(gw.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
