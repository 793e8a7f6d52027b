/**
 * Real API descriptions as tools: `node test/bench/tools.ts` (GW_DOCUMENTS: a folder of them), after `npm run build`. For
 * each, with and without search mode: how many tools, their size for a model, how long compiling and listing them takes,
 * and the gateway's memory. Fails where a schema is not valid JSON Schema 2020-12.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { tokensOf } from '../../gateway/src/tools/tokens.ts';
import { type Document, withMocks } from '../mocked-document.ts';
import { compileSpec, withGateway } from '../serve/gateway.ts';
import { openSession, post } from '../serve/mcp-project.ts';
import { memoryMiB } from './load.ts';

const folder = process.env['GW_DOCUMENTS'];
if (folder === undefined) throw new Error('GW_DOCUMENTS names no folder');

interface Tool {
  readonly name: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
}

/** All pages. */
async function listed(url: string): Promise<{ readonly tools: readonly Tool[]; readonly pages: number }> {
  const session = await openSession(url);
  const tools: Tool[] = [];
  let [cursor, pages]: [unknown, number] = [undefined, 0];
  do {
    const params = cursor === undefined ? {} : { cursor };
    const { body } = await post(url, { jsonrpc: '2.0', id: ++pages, method: 'tools/list', params }, session);
    const result = Object(body?.result);
    tools.push(...result.tools);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return { tools, pages };
}

function checkSchemas(tools: readonly Tool[]): void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const { name, inputSchema, outputSchema } of tools) {
    for (const schema of [inputSchema, outputSchema ?? {}]) {
      if (!ajv.validateSchema(schema)) throw new Error(`${name}: ${ajv.errorsText()}`);
    }
  }
}

console.log(
  '| | search | tools | pages | tokens | compiled in s | listed in ms | MiB before, after |\n|---|---|---|---|---|---|---|---|',
);
for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  for (const search of [false, true]) {
    const document: Document = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    withMocks(document);
    const from = performance.now();
    const artifact = await compileSpec({ ...document, 'x-gw-mcp': { enabled: true, search } }, ['mock']);
    const seconds = (performance.now() - from) / 1000;
    await withGateway(artifact, [], async ({ url, pid }) => {
      const before = memoryMiB(pid);
      const since = performance.now();
      const { tools, pages } = await listed(url);
      const ms = performance.now() - since;
      checkSchemas(tools);
      const tokens = tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
      const cells = [file, search ? 'on' : 'off', tools.length, pages, tokens, seconds.toFixed(1), ms.toFixed(0)];
      console.log(`| ${cells.join(' | ')} | ${before.toFixed(0)}, ${memoryMiB(pid).toFixed(0)} |`);
    });
  }
}
