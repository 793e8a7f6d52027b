import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const url = 'https://books.example/api';

describe('http-upstream', () => {
  it('hands off to the upstream with path and query as sent, and 30 s', async () => {
    const { outcome, handOff, answer } = await kit.dispatch({ config: { url }, path: '/a%2Fb/c?x=1&y=%20' });
    expect(outcome).toBe('handed-off');
    expect(handOff).toEqual({ upstream: url, path: '/a%2Fb/c?x=1&y=%20', timeoutMs: 30_000 });
    expect(answer).toBeNull();
  });

  it('hands off to a named upstream, with path and timeout as for a URL', async () => {
    const config = { upstream: 'books', path: '/v2{path+}', timeout: 2 };
    const operation = { path: '/{path+}', params: { path: '/a' } };
    const { handOff } = await kit.dispatch({ config, operation });
    expect(handOff).toEqual({ upstream: 'books', path: '/v2/a', timeoutMs: 2_000 });
  });

  it.each([
    [0.25, 250],
    [2, 2_000],
    [1e-9, 1],
    [3600, 3_600_000],
  ])('takes a timeout of %d seconds', async (timeout, timeoutMs) => {
    expect((await kit.dispatch({ config: { url, timeout } })).handOff?.timeoutMs).toBe(timeoutMs);
  });

  const pathFor = async (path: string, params: Record<string, string>, operation: string, sent = '/') =>
    (await kit.dispatch({ config: { url, path }, path: sent, operation: { path: operation, params } })).handOff?.path;

  it('fills path parameters in, percent-encoded, and keeps the query', async () => {
    expect(await pathFor('/v2/books/{id}/x', { id: 'a b/c?d#é%' }, '/books/{id}', '/books/1?q=1')).toBe(
      '/v2/books/a%20b%2Fc%3Fd%23%C3%A9%25/x?q=1',
    );
  });

  it('fills them in as they were sent, and percent-encoded in a query', async () => {
    const operation = { path: '/f/{key+}', params: { key: 'a/b c' }, sentParams: { key: 'a%2fb%20c;v=1' } };
    const to = async (path: string) => (await kit.dispatch({ config: { url, path }, operation })).handOff?.path;
    expect(await to('/files/{key}')).toBe('/files/a%2fb%20c;v=1');
    expect(await to('/files?key={key}')).toBe('/files?key=a/b%20c');
  });

  it('keeps the slashes of greedy parameters, under either spelling', async () => {
    expect(await pathFor('/files/{key}', { key: 'a/b c/d' }, '/f/{key+}')).toBe('/files/a/b%20c/d');
    expect(await pathFor('/files/{key+}', { key: 'a/b' }, '/f/{key+}')).toBe('/files/a/b');
  });

  it('puts the query after one that the template has', async () => {
    expect(await pathFor('/x?fixed=1', {}, '/x', '/x?q=2')).toBe('/x?fixed=1&q=2');
  });

  it('percent-encodes what the template itself may not hold', async () => {
    expect(await pathFor('/größe/{id}', { id: '1' }, '/{id}')).toBe('/gr%C3%B6%C3%9Fe/1');
  });

  it.each([
    ['..', '/a/{p}', '/{p}'],
    ['.', '/a/{p}/b', '/{p}'],
    ['x/../../secret', '/a/{p}', '/{p+}'],
    ['..', '/a/{p}?x', '/{p+}'],
    ['.', '/a/.{p}', '/{p}'],
    ['.', '/a/%2e{p}/b', '/{p}'],
  ])('answers 400 where %j would climb out of %s', async (p, path, operation) => {
    const result = await kit.dispatch({ config: { url, path }, operation: { path: operation, params: { p } } });
    expect(result.outcome).toBe('answered');
    expect(result.problem).toMatchObject({ status: 400, type: 'urn:gw:error:validation-failed' });
    expect(result.handOff).toBeNull();
  });

  it.each(['...', '..a', 'a..', '%2e%2e'])('lets %j be, which is a name like any other', async (p) => {
    const path = await pathFor('/a/{p}', { p }, '/{p}');
    expect(path).toBe(`/a/${encodeURIComponent(p)}`);
  });

  it('fails where its path names a parameter that the operation does not have', async () => {
    const result = await kit.dispatch({
      config: { url, path: '/a/{other}' },
      operation: { path: '/{p}', params: { p: '1' } },
    });
    expect(result.problem).toMatchObject({ status: 500, type: 'urn:gw:error:plugin-failed' });
    expect(result.logs.map(({ message }) => message)).toEqual([
      'dispatch failed: path names {other}, which the operation does not have',
    ]);
  });

  it('takes mutual TLS with both files, and authorities', async () => {
    const tls = { client_cert: '/c.pem', client_key: '/k.pem', ca: '/ca.pem' };
    expect((await kit.dispatch({ config: { url, tls } })).outcome).toBe('handed-off');
  });

  it.each([
    {},
    { url: 7 },
    { url, timeout: 0 },
    { url, path: 'relative' },
    { url, path: '/a/{id' },
    { url, path: '/a/{}' },
    { url, path: '/a}' },
    { url, tls: { client_cert: '/c.pem' } },
    { url, tls: { client_key: '/k.pem' } },
    { url, other: 1 },
  ])('refuses the config %j', async (config) => {
    await expect(kit.bind(config)).rejects.toThrow();
  });
});
