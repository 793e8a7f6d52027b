/** W3C Trace Context through a `gw serve` that traces nothing (docs/reference/gateway.md#traces). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { document, PLUGINS, traceparent } from './traced-project.ts';
import { startUpstream, type Upstream } from './upstream.ts';

describe('trace context without an endpoint', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    gw = await startGateway(await compileSpec(document(upstream.url), PLUGINS));
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  const sent = async (headers: [string, string][]) => {
    const response = await fetch(`${gw.url}/proxy`, { headers });
    const { traceparent: parent, tracestate: state } = upstream.seen.at(-1)?.headers ?? {};
    return { id: response.headers.get('x-trace-id'), parent, state };
  };

  it('passes a caller on to the upstream as it is, with its tracestate', async () => {
    const { traceId, header } = traceparent('01');
    const state = 'vendor=a%20b,other=1';
    expect(
      await sent([
        ['traceparent', header],
        ['tracestate', state],
      ]),
    ).toEqual({ id: traceId, parent: header, state });
  });

  it('begins no trace that would keep an upstream from sampling', async () => {
    const { id, parent } = await sent([]);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(parent).toBeUndefined();
  });

  it.each([
    ['a short id', '00-abc-b7ad6b7169203331-01'],
    ['upper case', '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01'],
    ['no trace id', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
    ['no span id', '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01'],
    ['version ff', 'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['more than version 00 has', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more'],
  ])('drops a traceparent with %s, and the tracestate with it', async (_name, header) => {
    const { id, parent, state } = await sent([
      ['traceparent', header],
      ['tracestate', 'vendor=1'],
    ]);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(header).not.toContain(id);
    expect([parent, state]).toEqual([undefined, undefined]);
  });

  it('reads later versions, and writes version 00', async () => {
    const later = '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff-more';
    const { parent } = await sent([['traceparent', later]]);
    expect(parent).toBe('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03');
  });
});
