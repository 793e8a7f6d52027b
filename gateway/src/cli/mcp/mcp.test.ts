/** `gw mcp tools` (docs/mcp.md). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCommand } from '../../../../test/cli/captured-run.ts';
import { compileCommand } from '../compile.ts';
import { mcpCommand } from './mcp.ts';

let folder: string;
const at = (name: string) => join(folder, name);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-mcp-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The command on an artifact with so many operations. */
async function tools(operations: number, args: readonly string[] = [], enabled = true) {
  const paths = Array.from({ length: operations }, (_, i) => [
    `/p${i}`,
    { get: { operationId: `op${i}`, summary: `Number ${i}`, 'x-gw-dispatch': { name: 'mock' } } },
  ]);
  const document = {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1' },
    'x-gw-mcp': { enabled },
    paths: Object.fromEntries(paths),
  };
  await writeFile(at('api.json'), JSON.stringify(document));
  await writeFile(at('gw.yaml'), 'plugins:\n  mock: {}\n');
  await runCommand(compileCommand, ['-m', at('gw.yaml'), '-s', at('api.json'), '-o', at('api.gwa')]);
  return runCommand(mcpCommand, ['tools', at('api.gwa'), ...args]);
}

it('lists tools with their size in tokens', async () => {
  const { code, stdout, stderr } = await tools(2);
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trim().split('\n');
  expect(lines[0]).toMatch(/^TOOL +OPERATION +TOKENS +TITLE$/);
  expect(lines[1]).toMatch(/^op0 +GET \/p0 +\d+ +Number 0$/);
  expect(lines.at(-1)).toMatch(/^2 tools, about \d+ tokens$/);
});

it('gives definitions in JSON, and counts what they cost', async () => {
  const { tools: listed, count, tokens } = JSON.parse((await tools(2, ['--format', 'json'])).stdout);
  expect(count).toBe(2);
  expect(listed[1]).toMatchObject({
    method: 'GET',
    path: '/p1',
    definition: { name: 'op1', inputSchema: { type: 'object' } },
  });
  expect(tokens).toBe(listed[0].tokens + listed[1].tokens);
});

it.each([
  [40, []],
  [41, ['40']],
  [129, ['128', '40']],
])('%i tools are too many for clients that take %j', async (count, limits) => {
  const { code, stderr } = await tools(count);
  expect(code).toBe(0);
  expect([...stderr.matchAll(/more than the (\d+) that/g)].map(([, most]) => most)).toEqual(limits);
});

it('says that MCP is not enabled', async () => {
  const { code, stderr } = await tools(1, [], false);
  expect(code).toBe(1);
  expect(stderr).toContain('x-gw-mcp');
});
