/** Whatever a client sends to the MCP endpoint, it gets an answer of the protocol, and nothing of another client. */

import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { hostileBody, hostileHeaders, matchingHeaders } from '../../../test/mcp-messages/hostile-messages.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile } from '../compiler/index.ts';
import { type Answer, Exchange, headerOf, type Responder } from '../exchange.ts';
import { parseOnce } from '../json/parse-once.ts';
import { StepBudget } from '../patterns/step-budget.ts';
import { Router } from '../router/router.ts';
import { MemorySessionStore } from '../state/memory-session-store.ts';
import { McpEndpoint, STREAMS } from './endpoint.ts';
import type { McpRequest } from './tool-methods.ts';
import { Toolbox } from './toolbox.ts';

const VICTIM = { key: 'key-of-the-victim', id: '7' };
const ATTACKER = 'key-of-the-attacker';
/** Of the gateway's own refusals. */
const LONGEST_ERROR = 5_000;

const operation = (operationId: string, parameters: readonly object[], more: object = {}) => ({
  operationId,
  parameters,
  responses: { 200: { description: 'x', content: { 'application/json': { schema: { type: 'object' } } } } },
  'x-gw-dispatch': { name: 'mock' },
  ...more,
});
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Fuzzed', version: '1' },
  paths: {
    '/echo/{id}': {
      post: operation(
        'echo',
        [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'list', in: 'query', schema: { type: 'array', items: { type: 'integer' } } },
          { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } },
          { name: 'X-Note', in: 'header', schema: { type: 'string' } },
        ],
        {
          requestBody: { content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } } },
        },
      ),
    },
    '/hold': { get: operation('hold', []) },
  },
};

interface Rig {
  readonly endpoint: McpEndpoint;
  /** Its answer is what the request has sent; `/hold` of the victim waits until it is let go. */
  ask(method: string, headers: readonly string[], body: Uint8Array): Promise<Answer | null | typeof STREAMS>;
  letGo(): void;
}

const NO_RESPONDER = { headSent: false, abort() {} } as unknown as Responder;
/** By whether clients get tools that find others. */
const toolboxes = new Map<boolean, { readonly toolbox: Toolbox; readonly router: Router<number> }>();

beforeAll(async () => {
  for (const search of [false, true]) {
    const document = { ...DOCUMENT, 'x-gw-mcp': { enabled: true, search, origins: ['https://chat.example'] } };
    const files = [{ name: 'api.json', bytes: Buffer.from(JSON.stringify(document)) }];
    const result = await compile({ specs: ['api.json'], files, plugins: fakePlugins, flags: {} });
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    const artifact = await readArtifact(result.artifact);
    const toolbox = Toolbox.of(artifact, { steps: new StepBudget(1_000_000), upstreams: null });
    if (toolbox === null) throw new Error('no tools');
    const router = new Router<number>();
    for (const { method, path, index } of artifact.routes.operations) router.add(method, path, index);
    toolboxes.set(search, { toolbox, router });
  }
});

function rigOf(search: boolean): Rig {
  const endpoint = new McpEndpoint(new MemorySessionStore(), 'a'.repeat(32));
  const { toolbox, router } = toolboxes.get(search) as NonNullable<ReturnType<typeof toolboxes.get>>;
  const held = Promise.withResolvers<void>();
  const requests: McpRequest['requests'] = {
    operationOf: (method, path) => router.find(method, path).value ?? undefined,
    serve(own) {
      const key = headerOf(own.headers, 'x-api-key');
      const said = JSON.stringify({ key, target: own.target, headers: own.headers });
      const answer = () => own.responder.send(own, 200, ['content-type', 'application/json'], said);
      if (own.path === '/hold' && key === VICTIM.key) void held.promise.then(answer);
      else setImmediate(answer);
    },
  };
  return {
    endpoint,
    letGo: held.resolve,
    ask(method, headers, body) {
      const exchange = new Exchange(NO_RESPONDER, {
        ...{ method, target: '/__gw/mcp', scheme: 'http', clientIp: '192.0.2.1', body: null },
        headers: [...headers],
      });
      exchange.readBody = () => Promise.resolve(body);
      const ignored = () => {};
      const stream = () => new PassThrough().resume();
      return endpoint.answer({
        ...{ exchange, toolbox, requests, stream, permits: () => Promise.resolve(null) },
        ...{ called: ignored, passedOn: ignored, upstreamFailed: ignored },
      });
    },
  };
}

const JSON_HEADERS = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'];
const rpc = (method: string, params: object, id: number = Number(VICTIM.id)) =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }));

async function sessionOf(rig: Rig): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
  const answer = await rig.ask('POST', JSON_HEADERS, rpc('initialize', params));
  if (answer === null || answer === STREAMS) throw new Error('no session');
  return headerOf(('headers' in answer && answer.headers) || [], 'mcp-session-id') ?? '';
}

/** Throws where the answer is none that a client of the protocol could understand. */
function check(answer: Answer | null | typeof STREAMS, body: Buffer): string {
  if (answer === STREAMS) {
    expect(parseOnce(body)).toMatchObject({ method: 'subscriptions/listen' });
    return '';
  }
  if (answer === null) throw new Error('no answer, although the client waits');
  const [headers, text] =
    'problem' in answer
      ? [answer.problem.headers ?? [], JSON.stringify(answer)]
      : [answer.headers ?? [], String(answer.body ?? '')];
  for (const each of headers) expect(each).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/);
  const told = text + headers.join();
  if ('problem' in answer) {
    expect(answer.problem.status).toSatisfy((status: number) => status >= 400 && status < 500);
    return told;
  }
  expect([200, 202, 204, 400, 404]).toContain(answer.status);
  if (answer.status === 202 || answer.status === 204) expect(answer.body).toBeNull();
  else checkRpc(JSON.parse(text), text, answer.status, body);
  return told;
}

function checkRpc(said: Record<string, unknown>, text: string, status: number, body: Buffer): void {
  expect(said['jsonrpc']).toBe('2.0');
  expect('error' in said).not.toBe('result' in said);
  const sent = ('id' in said ? parseOnce(body) : {}) as { id?: unknown };
  if ('id' in said) expect(said['id']).toBe(sent.id === 0 ? 0 : sent.id);
  if ('result' in said) {
    expect(status).toBe(200);
    expect('id' in said).toBe(true);
    return;
  }
  const { code, message } = said['error'] as { code: unknown; message: unknown };
  expect(code).toSatisfy((each: number) => Number.isInteger(each) && each <= -32_000 && each >= -32_768);
  expect(code).not.toBe(-32_603);
  expect(typeof message).toBe('string');
  expect(text.length).toBeLessThan(LONGEST_ERROR);
}

/** In place of the session that a client gets. */
const OWN = 'own-session';

const request = fc
  .record({
    method: fc.oneof(
      { weight: 20, arbitrary: fc.constant('POST') },
      fc.constantFrom('GET', 'DELETE', 'OPTIONS', 'PUT'),
    ),
    hostile: hostileHeaders,
    body: hostileBody(VICTIM.id),
    era: fc.constantFrom('sessions', 'sessions', 'stateless', 'stateless', 'stateless', null),
  })
  .map(({ method, hostile, body, era }) => {
    const ofEra = era === 'sessions' ? ['mcp-session-id', OWN] : era === 'stateless' ? matchingHeaders(body) : [];
    return { method, body, headers: [...hostile, ...JSON_HEADERS, ...ofEra, 'x-api-key', ATTACKER] };
  });

it.each([false, true])('answers anything with an answer of the protocol, in search mode: %s', async (search) => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 6 }), async (asked) => {
      const rig = rigOf(search);
      const [own, session] = [await sessionOf(rig), await sessionOf(rig)];
      const hold = search ? { name: 'call_tool', arguments: { name: 'hold' } } : { name: 'hold' };
      const ofVictim = ['mcp-session-id', session, 'x-api-key', VICTIM.key];
      const waiting = rig.ask('POST', [...JSON_HEADERS, ...ofVictim], rpc('tools/call', hold));
      const answers = asked.map(async ({ method, headers, body }) => {
        const sent = headers.map((text) => (text === OWN ? own : text));
        return check(await rig.ask(method, sent, body), body);
      });
      for (const told of await Promise.all(answers)) {
        expect(told).not.toContain(VICTIM.key);
        expect(told).not.toContain(session);
      }
      rig.letGo();
      const answer = await waiting;
      const text = answer !== null && answer !== STREAMS && 'body' in answer ? String(answer.body) : '';
      expect(JSON.parse(text)).toMatchObject({ id: 7, result: { structuredContent: { key: VICTIM.key } } });
    }),
    propertyRuns(300),
  );
});
