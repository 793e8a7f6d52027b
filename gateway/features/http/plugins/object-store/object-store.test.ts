import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const credentials = { access_key_id: 'AKID', secret_access_key: 'secret', region: 'eu-central-1' };
const dispatch = (config: Record<string, string | number | boolean>, sentParams: Record<string, string>, path = '/o') =>
  kit.dispatch({
    config: { ...credentials, ...config },
    path,
    operation: { path: '/o', params: sentParams, sentParams },
  });

describe('object-store', () => {
  it('hands off to the object that the path parameters name, and 30 s', async () => {
    const { outcome, handOff } = await dispatch({}, { bucket: 'books', key: 'a%2Fb%20c' }, '/o?versionId=1');
    expect(outcome).toBe('handed-off');
    expect(handOff).toEqual({
      upstream: 'https://s3.eu-central-1.amazonaws.com',
      path: '/a/b%20c?versionId=1',
      timeoutMs: 30_000,
    });
  });

  it('takes bucket, parameters and timeout from its config', async () => {
    const fixed = await dispatch(
      { bucket: 'fixed', timeout: 0.5, force_path_style: true },
      { bucket: 'books', key: 'k' },
    );
    expect(fixed.handOff).toMatchObject({ path: '/fixed/k', timeoutMs: 500 });
    const named = await dispatch(
      { bucket_param: 'b', key_param: 'rest+', force_path_style: true },
      { b: 'books', rest: 'k' },
    );
    expect(named.handOff).toMatchObject({ path: '/books/k' });
    const other = await dispatch(
      { endpoint: 'https://store.example/s3', force_path_style: false },
      { bucket: 'books', key: 'k' },
    );
    expect(other.handOff).toMatchObject({ upstream: 'https://store.example/s3', path: '/books/k' });
  });

  it.each([
    ['no bucket', { key: 'k' }, 'bucket'],
    ['an empty bucket', { bucket: '', key: 'k' }, 'bucket'],
    ['two buckets', { bucket: 'a%2Fb', key: 'k' }, 'bucket'],
    ['no key', { bucket: 'books' }, 'key'],
    ['an empty key', { bucket: 'books', key: '' }, 'key'],
    ['a key that climbs', { bucket: 'books', key: '..%2Fother%2Fk' }, 'key'],
  ])('answers 400 to %s', async (_what, params, names) => {
    const { problem } = await dispatch({}, params);
    expect(problem).toMatchObject({
      status: 400,
      type: 'urn:gw:error:validation-failed',
      detail: expect.stringContaining(names),
    });
  });

  it('answers 400 to a query that is not UTF-8', async () => {
    expect((await dispatch({}, { bucket: 'books', key: 'k' }, '/o?a=%ff')).problem).toMatchObject({ status: 400 });
  });

  it.each([
    { access_key_id: '' },
    { region: 'eu/../x' },
    { region: '' },
    { bucket: 'a/b' },
    { bucket: '..' },
    { fallback_key: '../x' },
    { endpoint: 'https://store.example/?x' },
    { timeout: 0 },
    { acl: 'public-read' },
  ])('does not take a config with %j', async (config) => {
    await expect(kit.bind({ ...credentials, ...config })).rejects.toThrow('schema');
  });
});
