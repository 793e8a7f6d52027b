import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const url = 'https://logs.example/ingest';

describe('the config of http-log', () => {
  it('needs a URL, and takes nothing that is not there', async () => {
    (await kit.bind({ url })).close();
    (await kit.bind({ url: `${url}?index=gw` })).close();
    await expect(kit.bind({})).rejects.toThrow('schema');
    await expect(kit.bind({ url: 'logs.example' })).rejects.toThrow('schema');
    await expect(kit.bind({ url: `${url}#x` })).rejects.toThrow('schema');
    await expect(kit.bind({ url, body: true })).rejects.toThrow('schema');
    await expect(kit.bind({ url: 'https://user:hunter2@logs.example/' })).rejects.toThrow(
      /^(?!.*hunter2).*credentials/s,
    );
  });

  it.each([
    ['format', 'xml'],
    ['fields', []],
    ['fields', ['authorization']],
    ['fields', ['path', 'path']],
    ['batch', { max_entries: 0 }],
    ['batch', { max_bytes: 1 << 30 }],
    ['batch', { max_delay: -1 }],
    ['timeout', 0],
    ['retry_for', 601],
    ['max_queue_bytes', 0],
    ['headers', { 'x y': 'z' }],
  ])('refuses a value that %s cannot have: %j', async (name, value) => {
    await expect(kit.bind({ url, [name]: value })).rejects.toThrow('schema');
  });

  it('takes no headers of framing, and none with a line break', async () => {
    (await kit.bind({ url, headers: { 'X-Source': 'gw', authorization: 'Splunk 123' } })).close();
    await expect(kit.bind({ url, headers: { 'Content-Length': '0' } })).rejects.toThrow('content-length');
    await expect(kit.bind({ url, headers: { host: 'other.example' } })).rejects.toThrow('host');
    await expect(kit.bind({ url, headers: { 'x-a': 'b\r\nx-c: planted' } })).rejects.toThrow(/^(?!.*planted).*x-a/s);
  });
});

describe('http-log', () => {
  it('lets every request pass as it is', async () => {
    const result = await kit.onRequest({ config: { url }, path: '/books?q=1', headers: { accept: '*/*' }, body: 'b' });
    expect(result).toMatchObject({ outcome: 'continue', answer: null, staged: {}, query: 'q=1', requestBody: null });
    expect(result.requestHeaders).toEqual({ accept: '*/*' });
    expect(result.logs).toEqual([]);
  });
});
