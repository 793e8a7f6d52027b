/** docs/mcp.md#clients: what each official client of MCP gets of the gateway. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CASES } from '../mcp-clients/cases.ts';
import { COVER, CREDENTIALS, type McpClientRig, startMcpClientRig } from '../mcp-clients/gateway-of-clients.ts';
import { NPM_CLIENTS } from '../mcp-clients/npm-clients.ts';
import { NO_PYTHON, runPython } from '../python/python.ts';

let rig: McpClientRig;
beforeAll(async () => {
  rig = await startMcpClientRig();
});
afterAll(async () => expect(await rig?.close()).toBe(0));

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/mcp.md'), 'utf8');

/** By client, its words by case; that of a row whose case there is not would be missing. */
function shown(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const cellsOf = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const lines =
    PAGE.split('<a id="clients"></a>')[1]
      ?.split('\n')
      .filter((line) => line.startsWith('|')) ?? [];
  const [, ...clients] = cellsOf(lines[0] ?? '');
  const rows = lines.slice(2, 2 + Object.keys(CASES).length).map(cellsOf);
  return Object.fromEntries(
    clients.map((client, i) => [
      client,
      Object.fromEntries(rows.map(([name = '', ...cells]) => [name, cells[i] ?? ''])),
    ]),
  );
}

it.each(NPM_CLIENTS)('the table has what $name gets', async (npm) => {
  const words: Record<string, string> = {};
  for (const [name, run] of Object.entries(CASES)) {
    const connection = await npm.connect(rig);
    words[name] = await run(connection, npm, rig).catch((error: unknown) => {
      throw new Error(`${npm.name}, ${name}`, { cause: error });
    });
    await connection.client.close();
  }
  expect(words).toEqual(shown()[npm.name]);
});

it.skipIf(NO_PYTHON)('the table has what the client of PyPI gets (needs a Python with mcp)', async () => {
  const { url, issuer } = rig;
  const asked = { url, issuer, ...CREDENTIALS, cover: COVER.toString('base64') };
  const told = await runPython<object>(join(import.meta.dirname, '../mcp-clients/clients.py'), asked);
  const ofPyPI = Object.entries(shown()).filter(([client]) => client.includes('(PyPI)'));
  expect(told).toEqual(Object.fromEntries(ofPyPI));
});
