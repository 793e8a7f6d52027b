/** Headers that the gateway adds beside those of an upstream (docs/reference/gateway.md#response-headers). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { raw } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const OURS = 'Tue, 01 Jan 2030 00:00:00 GMT';
const THEIRS = 'Thu, 01 Jan 2032 00:00:00 GMT';
const PLUGINS = ['mock', 'http-upstream', 'cors', 'rate-limit', 'cache', 'correlation-id', 'response-transformer'];

let upstream: Upstream;
let gateway: Gateway;
/** Headers that the upstream answers with. */
let sent: [string, string][] = [];

beforeAll(async () => {
  upstream = await startUpstream((_, response) => {
    for (const [name, value] of sent) response.appendHeader(name, value);
    response.end('answer');
  });
  const responses = { 200: { description: 'OK' } };
  const proxy = { name: 'http-upstream', config: { url: upstream.url } };
  const ended = { responses, deprecated: true, 'x-sunset': '2030-01-01' };
  const dated = { ...ended, 'x-deprecated-at': '2025-01-01', 'x-gw-dispatch': proxy };
  const stated = { name: 'response-transformer', config: { headers: { set: { deprecation: '@7', sunset: THEIRS } } } };
  const adding = [
    { name: 'cors', config: { allowed_origins: ['https://shop.example'] } },
    { name: 'rate-limit', config: { quota: 100, window: 60 } },
  ];
  const id = { name: 'correlation-id', config: {} };
  const cache = { name: 'cache', config: { status_header: true } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    paths: {
      '/plain': { get: { responses, 'x-gw-dispatch': proxy } },
      '/ended': { get: { ...ended, 'x-gw-dispatch': proxy } },
      '/dated': { get: dated },
      '/announced': { get: { responses, 'x-deprecated-at': '2025-01-01T00:00:00Z', 'x-gw-dispatch': proxy } },
      '/transformed': { get: { ...dated, 'x-gw-middlewares': [stated] } },
      '/mocked': { get: { ...dated, 'x-gw-middlewares': [stated], 'x-gw-dispatch': { name: 'mock', config: {} } } },
      '/policies': { get: { ...dated, 'x-gw-middlewares': [id, ...adding] } },
      '/cached': { get: { ...dated, 'x-gw-middlewares': [...adding, cache] } },
    },
  };
  gateway = await startGateway(await compileSpec(document, PLUGINS));
});

afterAll(async () => {
  expect(await gateway?.stop()).toBe(0);
  await upstream?.close();
});

/** Lines of a response by lower-case name, as they were sent. */
async function linesOf(path: string, headers: [string, string][] = []): Promise<ReadonlyMap<string, string[]>> {
  sent = headers;
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nOrigin: https://shop.example\r\nConnection: close\r\n\r\n`;
  const { socket, all } = raw(Number(new URL(gateway.url).port));
  socket.write(head);
  const [first = ''] = (await all).split('\r\n\r\n');
  const lines = new Map<string, string[]>();
  for (const line of first.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    lines.set(name, [...(lines.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  return lines;
}

async function lifecycleOf(path: string, headers: [string, string][] = []) {
  const lines = await linesOf(path, headers);
  return [lines.get('deprecation') ?? [], lines.get('sunset') ?? []];
}

describe('Deprecation and Sunset', () => {
  it('are one line each, whatever the upstream sends', async () => {
    const deprecation = (...values: string[]) => values.map((value): [string, string] => ['Deprecation', value]);
    const sunset = (...values: string[]) => values.map((value): [string, string] => ['Sunset', value]);
    // path, lines of the upstream, Deprecation and Sunset of the response
    const cases: [string, [string, string][], string, string][] = [
      ['/ended', [], 'true', OURS],
      ['/dated', [], '@1735689600', OURS],
      ['/ended', [...deprecation('@1688169599'), ...sunset(THEIRS)], '@1688169599', THEIRS],
      ['/dated', [...deprecation('@1688169599;by="us"'), ...sunset(THEIRS)], '@1688169599;by="us"', THEIRS],
      ['/ended', deprecation('true'), 'true', OURS],
      ['/ended', deprecation(THEIRS), THEIRS, OURS],
      ['/dated', deprecation('true'), '@1735689600', OURS],
      ['/dated', deprecation(THEIRS), '@1735689600', OURS],
      ['/ended', [...deprecation('yes'), ...sunset('2032-01-01')], 'true', OURS],
      ['/dated', [...deprecation('@soon', '@5', '@6'), ...sunset('never', THEIRS, OURS)], '@5', THEIRS],
      ['/dated', deprecation('@5, @6'), '@1735689600', OURS],
    ];
    for (const [path, lines, ...expected] of cases) {
      expect([lines, await lifecycleOf(path, lines)]).toEqual([lines, expected.map((value) => [value])]);
    }
  });

  it('are those of a transformer, in front of an upstream and of a mock', async () => {
    const theirs = [['@7'], [THEIRS]];
    expect(await lifecycleOf('/transformed', [['Deprecation', 'true']])).toEqual(theirs);
    expect(await lifecycleOf('/mocked')).toEqual(theirs);
  });

  it('are announced by x-deprecated-at alone, and pass as they came if the document says nothing', async () => {
    expect(await lifecycleOf('/announced')).toEqual([['@1735689600'], []]);
    const lines: [string, string][] = [
      ['Deprecation', 'yes'],
      ['Sunset', 'soon'],
    ];
    expect(await lifecycleOf('/plain', lines)).toEqual([['yes'], ['soon']]);
  });
});

it('sends no header twice that it adds beside an upstream', async () => {
  const fresh: [string, string] = ['Cache-Control', 'max-age=60'];
  const listed = new Set(['vary', 'cache-status']);
  const framing = new Set(['connection', 'content-length', 'transfer-encoding', 'cache-control', 'date', 'age']);
  for (const path of ['/policies', '/cached']) {
    await linesOf(path, [fresh]);
    const names = [...(await linesOf(path, [fresh])).keys()];
    expect(names.includes('age')).toBe(path === '/cached');
    const same = names.filter((name) => !framing.has(name) && !listed.has(name));
    const lines = same.map((name): [string, string] => [name, '1']);
    lines.push(fresh, ['Date', new Date().toUTCString()], ['Age', '1']);
    for (const time of ['first', 'second']) {
      const theirs = await linesOf(`${path}?again`, lines);
      const twice = [...theirs].filter(([name, each]) => each.length > 1 && !listed.has(name));
      expect([path, time, twice]).toEqual([path, time, []]);
      expect([...theirs.keys()]).toEqual(expect.arrayContaining(same));
    }
  }
});
