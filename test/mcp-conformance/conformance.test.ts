/** The conformance suite of the Model Context Protocol against `gw serve` (docs/mcp.md#revisions). */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from '../serve/gateway.ts';
import { openSession, post } from '../serve/mcp-project.ts';
import type { McpServer } from '../serve/mcp-servers.ts';
import { startUpstream, type Upstream } from '../serve/upstream.ts';
import { EXPECTED_FAILURES } from './expected-failures.ts';
import { PIXEL, startFixtureServer } from './fixture-server.ts';

const SUITE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist',
  'index.js',
);
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

/** Tools that the suite calls, and what the operation behind each answers. */
const ANSWERS: Readonly<Record<string, readonly [status: number, type: string, body: string | Buffer]>> = {
  test_simple_text: [200, 'text/plain', 'This is a simple text response for testing.'],
  test_image_content: [200, 'image/png', Buffer.from(PIXEL, 'base64')],
  test_audio_content: [200, 'audio/wav', Buffer.from(SILENCE, 'base64')],
  test_embedded_resource: [200, 'application/octet-stream', Buffer.from('bytes')],
  test_error_handling: [500, 'text/plain', 'This tool intentionally returns an error for testing'],
};

const ERAS = [
  ['2025-11-25', 'sessions'],
  ['2026-07-28', 'stateless'],
] as const;

interface Scenario {
  readonly name: string;
  readonly failed: number;
}

/** What the suite says at its end: `✗ ping: 1 passed, 2 failed`. */
function scenariosOf(output: string): readonly Scenario[] {
  const summary = output.slice(output.indexOf('=== SUMMARY ==='));
  return [...summary.matchAll(/^[✓✗] ([a-z0-9-]+): \d+ passed, (\d+) failed/gm)].map(([, name = '', failed]) => ({
    name,
    failed: Number(failed),
  }));
}

describe('the conformance suite', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-mcp-conformance-'));
  let upstream: Upstream;
  const fixtures: McpServer[] = [];
  /** By revision: behind each an upstream of its era. */
  const gateways = new Map<string, Gateway>();

  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      const [status, type, body] = ANSWERS[(request.url ?? '').slice(1)] ?? [404, 'text/plain', 'no such tool'];
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    });
    const operation = (operationId: string) => ({
      get: {
        operationId,
        summary: `Answers as ${operationId}`,
        responses: { 200: { description: 'x' } },
        'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
      },
    });
    const document = {
      openapi: '3.1.0',
      info: { title: 'Conformance', version: '1' },
      'x-gw-mcp': { enabled: true },
      paths: Object.fromEntries(Object.keys(ANSWERS).map((name) => [`/${name}`, operation(name)])),
    };
    for (const [revision, era] of ERAS) {
      const fixture = await startFixtureServer(era);
      fixtures.push(fixture);
      const upstreams = { fixture: { url: fixture.url, prefix: '' } };
      const gw = await startGateway(await compileSpec(document, ['http-upstream'], [], {}, { mcp: { upstreams } }));
      gateways.set(revision, gw);
      await eventually(async () => {
        const { body } = await post(gw.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, await openSession(gw.url));
        expect(JSON.stringify(body)).toContain('json_schema_2020_12_tool');
      });
    }
  });
  afterAll(async () => {
    for (const gw of gateways.values()) expect(await gw.stop()).toBe(0);
    await Promise.all([upstream?.close(), ...fixtures.map((each) => each.close())]);
    rmSync(dir, { recursive: true, force: true });
  });

  function run(revision: string): Promise<readonly Scenario[]> {
    const url = `${gateways.get(revision)?.url}/__gw/mcp`;
    const args = [SUITE, 'server', '--url', url, '--requirements', revision, '--output-dir', dir];
    return new Promise((resolve) => {
      // It ends with 1 where a scenario fails, and some are meant to.
      execFile(process.execPath, args, { maxBuffer: 64 << 20 }, (_, stdout) => resolve(scenariosOf(stdout)));
    });
  }

  it.each(Object.keys(EXPECTED_FAILURES))('of %s fails only where the table says so and why', async (revision) => {
    const scenarios = await run(revision);
    expect(scenarios.length).toBeGreaterThan(30);
    const failed = scenarios.filter((each) => each.failed > 0).map(({ name }) => name);
    expect(failed.sort()).toEqual(
      Object.values(EXPECTED_FAILURES[revision] ?? {})
        .flat()
        .sort(),
    );
  });
});
