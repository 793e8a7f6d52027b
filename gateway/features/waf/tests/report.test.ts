/** Exclusions that `gw waf report` proposes, in a gateway that has them (docs/waf.md). */
import { afterEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../test/cli/captured-run.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { reportCommand } from '../../../src/cli/waf/report.ts';

const SQL = "1' or '1'='1' -- ";
const HTML = '<script>alert(1)</script>';

const text = { type: 'string' };
const body = { type: 'object', properties: { items: { type: 'array', items: { properties: { note: text } } } } };
const form = { type: 'object', properties: { note: text } };

let gw: Gateway | undefined;
afterEach(() => gw?.stop());

function document(exclusions: readonly object[]) {
  const operation = (more: object) => ({ responses: { 200: { description: 'OK' } }, ...more });
  return {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1' },
    'x-gw-middlewares': [{ name: 'waf', config: { mode: 'detect', exclusions } }],
    'x-gw-dispatch': { name: 'mock' },
    paths: {
      '/books': {
        get: operation({
          parameters: [
            { name: 'q', in: 'query', schema: text },
            { name: 'X-Note', in: 'header', schema: text },
            { name: 'theme', in: 'cookie', schema: text },
          ],
        }),
        post: operation({ requestBody: { content: { 'application/json': { schema: body } } } }),
      },
      '/forms': {
        post: operation({
          parameters: [{ name: 'q', in: 'query', schema: text }],
          requestBody: { content: { 'application/x-www-form-urlencoded': { schema: form } } },
        }),
      },
    },
  };
}

const AGENT = { 'user-agent': 'Mozilla/5.0', accept: '*/*' };
const encoded = encodeURIComponent;

const REQUESTS: readonly (readonly [path: string, init: RequestInit])[] = [
  [`/books?q=${encoded(SQL)}`, { headers: AGENT }],
  ['/books', { headers: { ...AGENT, 'x-note': HTML } }],
  ['/books', { headers: { ...AGENT, cookie: `theme=${encoded(SQL)}` } }],
  [
    '/books',
    {
      method: 'POST',
      headers: { ...AGENT, 'content-type': 'application/json' },
      body: JSON.stringify({ items: [{ note: 'fine' }, { note: SQL }] }),
    },
  ],
  [
    `/forms?q=${encoded(HTML)}`,
    {
      method: 'POST',
      headers: { ...AGENT, 'content-type': 'application/x-www-form-urlencoded' },
      body: `note=${encoded(SQL)}`,
    },
  ],
];

/** Sends the requests, and returns the report on them. */
async function reportWith(exclusions: readonly object[]) {
  gw = await startGateway(await compileSpec(document(exclusions), ['waf', 'mock']), {});
  for (const [path, init] of REQUESTS) expect((await fetch(gw.url + path, init)).status).toBe(200);
  await gw.stop();
  const lines = gw.log.map((line) => `${JSON.stringify(line)}\n`).join('');
  return JSON.parse((await runCommand(reportCommand, ['--format', 'json'], {}, lines)).stdout);
}

describe('exclusions of gw waf report', () => {
  it('let the requests pass that they are for, by parameters alone', async () => {
    const before = await reportWith([]);
    expect(before.refused).toBe(REQUESTS.length);
    const parameters = before.exclusions.flatMap((each: { parameters?: readonly string[] }) => each.parameters ?? ['']);
    expect(new Set(parameters)).toEqual(
      new Set([
        ...['query:q', 'header:x-note', 'cookie:theme', 'body:items.*.note'],
        // The name of the host is an address here.
        'header:host',
        // Rules see one collection of the query and the form.
        ...['query:note', 'body:note', 'body:q'],
      ]),
    );
    expect((await reportWith(before.exclusions)).refused).toBe(0);
  });
});
