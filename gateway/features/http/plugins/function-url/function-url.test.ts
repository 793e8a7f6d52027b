import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

describe('the config of function-url', () => {
  it('needs a URL, and takes nothing else that is not there', async () => {
    await expect(kit.bind({})).rejects.toThrow('schema');
    await expect(kit.bind({ url: 'https://f.example/', timeout: 0 })).rejects.toThrow('schema');
    await expect(kit.bind({ url: 'https://f.example/', timeout: 301 })).rejects.toThrow('schema');
    await expect(kit.bind({ url: 'https://f.example/#x' })).rejects.toThrow('schema');
    await expect(kit.bind({ url: 'https://f.example/', invocation: 'async' })).rejects.toThrow('schema');
    (await kit.bind({ url: 'https://f.example' })).close();
  });

  it('has parameters in path and query, with both braces', async () => {
    await expect(kit.bind({ url: 'https://f.example/{id' })).rejects.toThrow('{name}');
    await expect(kit.bind({ url: 'https://{tenant}.example/' })).rejects.toThrow('{name}');
    (await kit.bind({ url: 'https://f.example/{id}?v={version}' })).close();
  });
});

describe('function-url', () => {
  it.each(['..', '.', '%2e%2E', '.%2e'])('lets no parameter leave its place in the path: %s', async (sent) => {
    const { problem } = await kit.dispatch({
      config: { url: 'https://f.example/users/{id}/avatar' },
      operation: { path: '/{id}', params: { id: decodeURIComponent(sent) }, sentParams: { id: sent } },
    });
    expect(problem).toMatchObject({ status: 400, type: 'urn:gw:error:validation-failed' });
  });
});
