import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const url = 'https://shadow.example/v2';

describe('the config of fire-and-forget', () => {
  it('needs a URL, and takes nothing that is not there', async () => {
    (await kit.bind({ url })).close();
    (await kit.bind({ url, path: '/users/{id}?copy=1', sample: 0.5, headers: { set: { 'X-Copy': '1' } } })).close();
    await expect(kit.bind({})).rejects.toThrow('schema');
    await expect(kit.bind({ url: 'shadow.example' })).rejects.toThrow('schema');
    await expect(kit.bind({ url, wait: true })).rejects.toThrow('schema');
    await expect(kit.bind({ url, path: '/{id' })).rejects.toThrow('{name}');
  });

  it.each([
    ['sample', -1],
    ['sample', 101],
    ['path', 'users'],
    ['timeout', 0],
    ['timeout', 61],
    ['max_body_bytes', 1 << 25],
    ['max_queue_bytes', 1],
    ['headers', { set: { 'x y': '1' } }],
    ['headers', { remove: ['x:'] }],
  ])('refuses a value that %s cannot have: %j', async (name, value) => {
    await expect(kit.bind({ url, [name]: value })).rejects.toThrow('schema');
  });

  it('changes no headers of framing', async () => {
    await expect(kit.bind({ url, headers: { set: { 'Transfer-Encoding': 'chunked' } } })).rejects.toThrow('transfer-');
    await expect(kit.bind({ url, headers: { remove: ['Host'] } })).rejects.toThrow('host');
    await expect(kit.bind({ url, headers: { set: { 'x-a': 'b\nx-c: d' } } })).rejects.toThrow('x-a');
  });
});

describe('fire-and-forget', () => {
  it.each([0, 50, 100])('lets every request pass as it is, with sample %d', async (sample) => {
    const result = await kit.onRequest({ config: { url, sample }, path: '/a?b=c', method: 'POST', body: 'd' });
    expect(result).toMatchObject({ outcome: 'continue', answer: null, query: 'b=c', requestBody: null, staged: {} });
  });
});
