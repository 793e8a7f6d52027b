import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const url = 'wss://chat.example/api';
const headers = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
const handshake = { upgrade: 'websocket' as const, headers };

describe('ws-upstream', () => {
  it('hands the handshake off with path and query as sent, and the defaults', async () => {
    const { outcome, handOff, answer } = await kit.dispatch({ ...handshake, config: { url }, path: '/a%2Fb?x=1' });
    expect(outcome).toBe('handed-off');
    expect(handOff).toEqual({
      upstream: url,
      path: '/a%2Fb?x=1',
      timeoutMs: 5_000,
      webSocket: { idleTimeoutMs: 300_000, maxMessageBytes: 64 << 20 },
    });
    expect(answer).toBeNull();
  });

  it.each([
    [{ connect_timeout: 0.1 }, { timeoutMs: 100 }],
    [{ connect_timeout: 300 }, { timeoutMs: 300_000 }],
    [{ idle_timeout: 0 }, { webSocket: { idleTimeoutMs: 0 } }],
    [{ idle_timeout: 0.0001 }, { webSocket: { idleTimeoutMs: 1 } }],
    [{ max_message_size: 2147483647 }, { webSocket: { maxMessageBytes: 2147483647 } }],
  ])('takes %j', async (config, expected) => {
    const { handOff } = await kit.dispatch({ ...handshake, config: { url, ...config } });
    expect(handOff).toMatchObject(expected);
  });

  it('fills path parameters in', async () => {
    const { handOff } = await kit.dispatch({
      ...handshake,
      config: { url, path: '/rooms/{room}?v=2' },
      path: '/r/a%20b?x=1',
      operation: { path: '/r/{room}', params: { room: 'a b' } },
    });
    expect(handOff?.path).toBe('/rooms/a%20b?v=2&x=1');
  });

  it('answers 400 where a parameter would climb', async () => {
    const { problem } = await kit.dispatch({
      ...handshake,
      config: { url, path: '/rooms/{room}' },
      operation: { path: '/r/{room}', params: { room: '..' } },
    });
    expect(problem).toMatchObject({ status: 400, type: 'urn:gw:error:validation-failed' });
  });

  it('answers 426 to a request that asks for no WebSocket', async () => {
    const { outcome, problem, answer } = await kit.dispatch({ config: { url }, headers });
    expect(outcome).toBe('answered');
    expect(problem).toMatchObject({ status: 426, type: 'urn:gw:error:upgrade-required' });
    expect(answer?.headers).toMatchObject({ upgrade: 'websocket', connection: 'Upgrade' });
  });

  it('answers 426 to another version, and names its own', async () => {
    const { answer } = await kit.dispatch({
      ...handshake,
      headers: { ...headers, 'sec-websocket-version': '8' },
      config: { url },
    });
    expect(answer).toMatchObject({ status: 426, headers: { 'sec-websocket-version': '13' } });
  });

  it.each(['', 'c2hvcnQ=', 'dGhlIHNhbXBsZSBub25jZQ==x', 'dGhlIHNhbXBsZSBub25jZR=='])(
    'answers 400 to the key %j',
    async (key) => {
      const { problem } = await kit.dispatch({
        ...handshake,
        headers: { ...headers, 'sec-websocket-key': key },
        config: { url },
      });
      expect(problem).toMatchObject({ status: 400, type: 'urn:gw:error:malformed-request' });
    },
  );

  it.each([
    {},
    { url: 7 },
    { url: 'https://chat.example' },
    { url, connect_timeout: 0.09 },
    { url, connect_timeout: 301 },
    { url, idle_timeout: -1 },
    { url, max_message_size: 124 },
    { url, max_message_size: 2147483648 },
    { url, path: 'relative' },
    { url, path: '/a/{id' },
    { url, tls: { client_cert: '/c.pem' } },
    { url, other: 1 },
  ])('refuses the config %j', async (config) => {
    await expect(kit.bind(config)).rejects.toThrow();
  });
});
