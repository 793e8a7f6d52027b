import {
  type HookRequest,
  MemoryState,
  type PluginKit,
  type State,
  StateUnavailable,
  testPlugin,
} from '@gw/plugin-sdk/testing';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { contentDigest, type Signed, type Signing, sign } from '../../../../../test/serve/signer.ts';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

/** RFC 9421, appendices B.1.5, B.2 and B.2.5. */
const RFC_SECRET = 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==';
const RFC_REQUEST = {
  method: 'POST',
  path: '/foo?param=Value&Pet=dog',
  headers: {
    host: 'example.com',
    date: 'Tue, 20 Apr 2021 02:07:55 GMT',
    'content-type': 'application/json',
    'content-digest':
      'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
    'signature-input': 'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    signature: 'sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:',
  },
  body: '{"hello": "world"}',
};
const RFC_CONFIG = {
  keys: [{ id: 'test-shared-secret', secret: `base64:${RFC_SECRET}` }],
  required_components: ['date', '@authority'],
  require_content_digest: false,
  max_age_seconds: 1_000_000_000,
};

const secret = 'a secret of more than sixteen bytes';
const config = {
  keys: [
    { id: 'other', secret: 'another secret of enough bytes' },
    { id: 'key-1', secret, consumer: 'billing', groups: ['services', 'a,b'] },
    { id: 'key-2', secret: `${secret}!` },
  ],
};
const at = (path: string) => `http://api.example.com${path}`;

/** As a client that signs sends it, with what is changed on the way. */
function sent(
  request: Partial<Signed>,
  signing: Partial<Signing> = {},
  changed: Partial<HookRequest> = {},
): HookRequest {
  const whole = { method: 'GET', url: at('/orders'), ...request };
  const { pathname, search, host } = new URL(whole.url);
  const headers = sign({ ...whole, headers: { host, ...request.headers } }, { keyid: 'key-1', secret, ...signing });
  return { config, method: whole.method, path: pathname + search, headers, ...bodyOf(whole.body), ...changed };
}
const bodyOf = (body?: string) => (body === undefined ? {} : { body });
const seconds = (offset = 0) => Math.floor(Date.now() / 1000) + offset;

describe('hmac-auth', () => {
  it('verifies the example of RFC 9421, B.2.5, and no other of it', async () => {
    const { outcome, requestHeaders } = await kit.onRequest({ config: RFC_CONFIG, ...RFC_REQUEST });
    expect(outcome).toBe('continue');
    expect(requestHeaders).toMatchObject({ 'x-auth-consumer': 'test-shared-secret', 'x-auth-consumer-groups': '' });
    for (const [name, value] of [
      ['date', 'Tue, 20 Apr 2021 02:07:56 GMT'],
      ['host', 'example.org'],
      ['content-type', 'text/plain'],
      ['signature-input', RFC_REQUEST.headers['signature-input'].replace('1618884473', '1618884474')],
    ] as const) {
      const headers = { ...RFC_REQUEST.headers, [name]: value };
      const { problem } = await kit.onRequest({ config: RFC_CONFIG, ...RFC_REQUEST, headers });
      expect(problem).toMatchObject({ status: 401, detail: 'the signature is invalid' });
    }
    // Its Content-Digest is of its body.
    const signed = sign(
      { method: 'POST', url: 'http://example.com/foo', headers: RFC_REQUEST.headers, body: RFC_REQUEST.body },
      { keyid: 'test-shared-secret', secret: Buffer.from(RFC_SECRET, 'base64') },
    );
    const digested = { ...RFC_REQUEST, path: '/foo', headers: signed };
    const strict = { keys: RFC_CONFIG.keys };
    expect((await kit.onRequest({ config: strict, ...digested })).outcome).toBe('continue');
    expect((await kit.onRequest({ config: strict, ...digested, body: '{"hello": "World"}' })).problem).toMatchObject({
      detail: 'the body does not match its Content-Digest',
    });
  });

  it('says who the caller is', async () => {
    const { outcome, requestHeaders, context } = await kit.onRequest(sent({ url: at('/orders?a=1&b=%20') }));
    expect(outcome).toBe('continue');
    expect(requestHeaders).toMatchObject({
      'x-auth-consumer': 'billing',
      'x-auth-consumer-groups': 'services,a%2Cb',
      'x-auth-key-id': 'key-1',
    });
    expect(context).toEqual({ 'auth.consumer': 'billing' });
  });

  it.each([
    ['@method @target-uri', ['@method', '@target-uri']],
    ['@method @request-target', ['@method', '@request-target']],
    [
      'every derived component',
      ['@query', '@path', '@scheme', '@authority', '@request-target', '@target-uri', '@method'],
    ],
    ['headers too', ['@method', '@path', '@query', 'content-type', 'x-order']],
  ])('takes signatures of %s', async (_what, components) => {
    const headers = { 'content-type': 'application/json', 'x-order': '7' };
    const { outcome } = await kit.onRequest(sent({ url: at('/orders?a=1'), headers }, { components }));
    expect(outcome).toBe('continue');
  });

  it('takes the first of several signatures that holds', async () => {
    const good = sent({}).headers ?? {};
    const other = sign({ method: 'GET', url: at('/orders') }, { keyid: 'key-1', secret: 'x', label: 'proxy' });
    const headers = {
      ...good,
      'signature-input': `${other['signature-input']}, ${good['signature-input']}`,
      signature: [String(other['signature']), String(good['signature'])],
    };
    expect((await kit.onRequest({ config, path: '/orders', headers })).outcome).toBe('continue');
  });

  const HOLDS_NOT = 'the signature is invalid';
  const STALE = 'has expired';
  const UNCOVERED = 'does not cover all';
  const MALFORMED = 'malformed';
  it.each<readonly [string, HookRequest, string]>([
    ['another path', sent({}, {}, { path: '/orders2' }), HOLDS_NOT],
    ['another query', sent({ url: at('/orders?a=1') }, {}, { path: '/orders?a=2' }), HOLDS_NOT],
    ['a query that was added', sent({ url: at('/orders') }, {}, { path: '/orders?a=1' }), HOLDS_NOT],
    ['another method', sent({}, {}, { method: 'DELETE' }), HOLDS_NOT],
    ['another secret', sent({}, { secret: `${secret}!` }), HOLDS_NOT],
    ['a key that nobody has', sent({}, { keyid: 'key-9' }), HOLDS_NOT],
    ["another key's name", sent({}, { keyid: 'key-2' }), HOLDS_NOT],
    ['a header that is not there', sent({}, { components: ['@method', '@path', '@query', 'x-gone'] }), HOLDS_NOT],
    ['a component that is not known', sent({}, { components: ['@method', '@path', '@query', '@status'] }), HOLDS_NOT],
    ['no method', sent({}, { components: ['@path', '@query'] }), UNCOVERED],
    ['no path', sent({}, { components: ['@method', '@query'] }), UNCOVERED],
    ['no query where there is one', sent({ url: at('/a?x=1') }, { components: ['@method', '@path'] }), UNCOVERED],
    ['an old one', sent({}, { params: [`created=${seconds(-362)}`] }), STALE],
    ['one of the future', sent({}, { params: [`created=${seconds(65)}`] }), STALE],
    ['one that has expired', sent({}, { params: [`created=${seconds(-100)}`, `expires=${seconds(-62)}`] }), STALE],
    ['no time of creation', sent({}, { params: [] }), STALE],
    ['another algorithm', sent({}, { params: [`created=${seconds()}`, 'alg="rsa-v1_5-sha256"'] }), MALFORMED],
    ['a component twice', sent({}, { components: ['@method', '@path', '@query', '@path'] }), MALFORMED],
    ['two times of creation', sent({}, { params: [`created=${seconds(-9999)}`, `created=${seconds()}`] }), MALFORMED],
    ['a time that is a text', sent({}, { params: [`created="${seconds()}"`] }), MALFORMED],
    ['no signature', { config }, 'is required'],
    ['a body that is not signed', sent({ method: 'POST' }, {}, { body: '{}' }), 'does not cover the Content-Digest'],
    [
      'a body whose digest is not signed',
      sent({ method: 'POST', body: '{}' }, { components: ['@method', '@path', '@query'] }),
      'does not cover the Content-Digest',
    ],
    ['another body', sent({ method: 'POST', body: '{"a":1}' }, {}, { body: '{"a":2}' }), 'does not match'],
    ['a body that was taken away', sent({ method: 'POST', body: '{"a":1}' }, {}, { body: '' }), 'does not match'],
    [
      'a digest that nobody knows',
      sent({ method: 'POST', body: '{}', headers: { 'content-digest': 'md5=:mZFLkyvTelC5g8XnyQrpOw==:' } }),
      'does not match',
    ],
  ])('answers 401 to %s', async (_what, request, detail) => {
    const { outcome, answer, problem, requestHeaders } = await kit.onRequest(request);
    expect(outcome).toBe('answered');
    expect(answer?.headers['www-authenticate']).toBe('Signature realm="api"');
    expect(problem).toMatchObject({ type: 'urn:gw:error:unauthorized', title: 'Unauthorized', status: 401 });
    expect(problem?.['detail']).toContain(detail);
    expect(requestHeaders).not.toHaveProperty('x-auth-consumer');
  });

  it.each([
    ['nothing', '', ''],
    ['no list', 'sig1', 'sig1=:AAAA:'],
    ['a list that does not end', 'sig1=("@method"', 'sig1=:AAAA:'],
    ['parameters of components', 'sig1=("@method";req);created=1;keyid="key-1"', 'sig1=:AAAA:'],
    ['a comma at the end', 'sig1=("@method");created=1;keyid="key-1",', 'sig1=:AAAA:'],
    ['no base64', 'sig1=("@method");created=1;keyid="key-1"', 'sig1=:*:'],
    ['another label', 'sig1=("@method" "@path" "@query");created=1;keyid="key-1"', 'sig2=:AAAA:'],
    ['a thousand members', Array(1000).fill('a=()').join(', '), Array(1000).fill('a=:AAAA:').join(', ')],
    ['a thousand components', `a=(${Array.from({ length: 1000 }, (_, i) => `"x${i}"`).join(' ')})`, 'a=:AAAA:'],
    ['quotes and escapes', 'sig1=("a\\"b");created=1;keyid="key-1"', 'sig1=:AAAA:'],
    ['bytes beyond ASCII', 'sig1=("\u00ff\u00fe");created=1', 'sig1=:AAAA:'],
  ])('reads %s without harm', async (_what, input, signature) => {
    const headers = { 'signature-input': input, signature };
    const { answer, logs } = await kit.onRequest({ config, headers });
    expect([answer?.status, logs]).toEqual([401, []]);
  });

  it('answers 401 to any fields that nobody signed, and never fails', async () => {
    const piece = fc.constantFrom(
      ...[
        'sig1=',
        '(',
        ')',
        '"@method"',
        '"@path"',
        '"@query"',
        ' ',
        ';',
        'created=',
        '1',
        'keyid="key-1"',
        ',',
        ':',
        'AAAA',
      ],
      ...[
        'alg="hmac-sha256"',
        'nonce="',
        '"',
        '\\',
        '=',
        `created=${seconds()}`,
        '"@target-uri"',
        '\u00ff',
        '*',
        '9999999999999999',
      ],
    );
    const field = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    const property = fc.asyncProperty(field, field, field, async (input, signature, digest) => {
      const headers = { 'signature-input': input, signature, 'content-digest': digest };
      const { answer, logs } = await kit.onRequest({ config, method: 'POST', headers, body: '{}' });
      expect([answer?.status, logs]).toEqual([401, []]);
    });
    await fc.assert(property, propertyRuns(300));
  });

  it('takes a nonce once with replay_protection, and says so if that cannot be known', async () => {
    const once = { ...config, replay_protection: true };
    const nonce = (value: string) => ({ params: [`created=${seconds()}`, `nonce="${value}"`] });
    const first = sent({}, nonce('n-1'), { config: once });
    expect((await kit.onRequest(first)).outcome).toBe('continue');
    expect((await kit.onRequest(first)).problem).toMatchObject({
      status: 401,
      detail: 'the signature was used before',
    });
    expect((await kit.onRequest(sent({}, nonce('n-2'), { config: once }))).outcome).toBe('continue');
    expect((await kit.onRequest(sent({}, {}, { config: once }))).problem?.['detail']).toContain('no nonce');
    // What does not hold uses up nothing.
    const forged = sent({ method: 'POST', body: '{}' }, nonce('n-3'), { config: once });
    expect((await kit.onRequest({ ...forged, body: '[]' })).answer?.status).toBe(401);
    expect((await kit.onRequest(forged)).outcome).toBe('continue');

    // No crowd of other counters makes a replay pass.
    const crowded = new MemoryState();
    const other = await testPlugin(import.meta.dirname, { state: crowded });
    const replayed = sent({}, nonce('n-5'), { config: once });
    expect((await other.onRequest(replayed)).outcome).toBe('continue');
    for (let i = 0; i < 100_001; i++) crowded.rateLimits.take(`other ${i}`, 1, 60);
    expect((await other.onRequest(replayed)).problem?.['detail']).toBe('the signature was used before');
    other.close();

    // A store that began after the signature cannot tell.
    const later = new MemoryState({ now: () => Date.now() + 5_000 });
    const restarted = await testPlugin(import.meta.dirname, { state: later });
    expect((await restarted.onRequest(replayed)).problem).toMatchObject({
      status: 401,
      detail: 'the signature is older than the nonces that are remembered: sign the request again',
    });
    restarted.close();

    const memory = new MemoryState();
    const away: State = {
      cache: memory.cache,
      rateLimits: memory.rateLimits,
      nonces: { enter: () => Promise.reject(new StateUnavailable('away')) },
      reservations: memory.reservations,
      budgets: memory.budgets,
      sessions: memory.sessions,
      close: () => memory.close(),
    };
    const cut = await testPlugin(import.meta.dirname, { state: away });
    const { problem } = await cut.onRequest(sent({}, nonce('n-4'), { config: once }));
    expect(problem).toMatchObject({ type: 'urn:gw:error:state-unavailable', status: 503 });
    cut.close();
  });

  it('takes sha-512 digests, and the stronger of two', async () => {
    const both = (body: string) => `${contentDigest(body)}, ${contentDigest(body, 'sha-512')}`;
    const headers = { 'content-digest': both('{}') };
    expect((await kit.onRequest(sent({ method: 'POST', body: '{}', headers }))).outcome).toBe('continue');
    const mixed = { 'content-digest': `${contentDigest('{}')}, ${contentDigest('[]', 'sha-512')}` };
    expect((await kit.onRequest(sent({ method: 'POST', body: '{}', headers: mixed }))).answer?.status).toBe(401);
  });

  it.each([
    ['a secret that is soon guessed', [{ id: 'a', secret: 'short' }], /fewer than 16 bytes/],
    ['a secret that is no base64', [{ id: 'a', secret: 'base64:%%%%%%%%%%%%%%%%%%%%%%%%' }], /is not base64/],
    [
      'an id twice',
      [
        { id: 'a', secret },
        { id: 'a', secret: `${secret}2` },
      ],
      /\/keys\/1 has the same id as entry 0/,
    ],
  ])('refuses %s', async (_what, keys, says) => {
    await expect(kit.bind({ keys })).rejects.toThrow(says);
  });
});
