/** What a client of MCP must get of the gateway, by capability: the same of each; clients.py has them for those of PyPI. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { eventually } from '../eventually.ts';
import { COVER, type McpClientRig } from './gateway-of-clients.ts';
import type { Connection, NpmClient } from './npm-clients.ts';

/** Throws where the client does not get what it must; else the table's word for what it gets. */
type Case = (connection: Connection, client: NpmClient, rig: McpClientRig) => Promise<string>;

const PASSES = 'passes';
/** The two servers behind the gateway, one of each era. */
const UPSTREAMS = ['early', 'late'];

interface Result {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}
const call = (connection: Connection, name: string, options = {}) => connection.call(name, options) as Promise<Result>;
const codeIs = (code: number) => (error: unknown) => (error as { code?: unknown }).code === code;

export const CASES: Readonly<Record<string, Case>> = {
  'lists by pages': async ({ client }) => {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      names.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    strictEqual(names.filter((name) => name.startsWith('many_')).length, 120);
    strictEqual(new Set(names).size, names.length);
    for (const name of ['book', 'early_test_tool_with_progress', 'late_test_tool_with_progress'])
      ok(names.includes(name));
    return PASSES;
  },
  calls: async (connection) => {
    const { content } = await call(connection, 'book');
    deepStrictEqual(content, [{ type: 'text', text: '{"title":"Cosmos"}' }]);
    return PASSES;
  },
  'structured content': async (connection, { era }) => {
    deepStrictEqual((await call(connection, 'book')).structuredContent, { title: 'Cosmos' });
    const list = (await call(connection, 'books')).structuredContent;
    deepStrictEqual(list, era === 'sessions' ? undefined : [{ title: 'Cosmos' }]);
    return list === undefined ? 'objects' : 'any JSON';
  },
  'binary content': async (connection) => {
    const { content } = await call(connection, 'cover');
    deepStrictEqual(content, [{ type: 'image', mimeType: 'image/png', data: COVER.toString('base64') }]);
    return PASSES;
  },
  progress: async (connection) => {
    for (const upstream of UPSTREAMS) {
      const seen: number[] = [];
      await call(connection, `${upstream}_test_tool_with_progress`, {
        onprogress: ({ progress }: { progress: number }) => seen.push(progress),
      });
      deepStrictEqual(seen, [0, 50, 100]);
    }
    return PASSES;
  },
  cancellation: async (connection) => {
    const slow = async () =>
      (await call(connection, 'slow_calls')).structuredContent as { begun: number; ended: number };
    const before = await slow();
    const abort = new AbortController();
    const called = rejects(call(connection, 'slow', { signal: abort.signal }));
    await eventually(async () => strictEqual((await slow()).begun, before.begun + 1));
    abort.abort('changed my mind');
    await called;
    await eventually(async () => strictEqual((await slow()).ended, before.ended + 1));
    return PASSES;
  },
  resources: async ({ client }) => {
    const { resources } = await client.listResources();
    ok(resources.some(({ uri }) => uri === 'test://static-text'));
    const { resourceTemplates } = await client.listResourceTemplates();
    deepStrictEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ['test://template/{id}/data'],
    );
    const { contents } = await client.readResource({ uri: 'test://template/7/data' });
    match(JSON.stringify(contents), /Data for ID: 7/);
    return PASSES;
  },
  prompts: async ({ client }) => {
    const { prompts } = await client.listPrompts();
    for (const upstream of UPSTREAMS) {
      const name = `${upstream}_test_prompt_with_arguments`;
      ok(prompts.some((each) => each.name === name));
      const { messages } = await client.getPrompt({ name, arguments: { arg1: 'a', arg2: 'b' } });
      match(JSON.stringify(messages), /arg1='a', arg2='b'/);
    }
    return PASSES;
  },
  completion: async ({ client }) => {
    for (const upstream of UPSTREAMS) {
      const ref = { type: 'ref/prompt', name: `${upstream}_test_prompt_with_arguments` } as const;
      const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'p' } });
      deepStrictEqual(completion.values, ['paris']);
    }
    return PASSES;
  },
  logging: async (connection) => {
    await connection.wantLogs();
    for (const upstream of UPSTREAMS) {
      connection.logged.length = 0;
      await call(connection, `${upstream}_test_tool_with_logging`);
      deepStrictEqual(connection.logged, [
        'Tool execution started',
        'Tool processing data',
        'Tool execution completed',
      ]);
    }
    return PASSES;
  },
  authorization: async (connection, npm, rig) => {
    await rejects(call(connection, 'mine'), /Unauthorized.*with the scheme Bearer/);
    const authorized = await npm.connect(rig, true);
    const { content } = await call(authorized, 'mine');
    deepStrictEqual(content[0]?.text, '{"yours":true}');
    await authorized.client.close();
    return PASSES;
  },
  errors: async (connection) => {
    await rejects(call(connection, 'nothing'), codeIs(-32_602));
    await rejects(connection.client.getPrompt({ name: 'nothing' }), codeIs(-32_602));
    const { isError, content } = await call(connection, 'gone');
    strictEqual(isError, true);
    match(content[0]?.text ?? '', /HTTP 404 Not Found/);
    return PASSES;
  },
};
