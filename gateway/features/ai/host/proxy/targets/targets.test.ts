import { describe, expect, it } from 'vitest';
import { Endpoint, KnownEndpoints } from './endpoint.ts';
import { Target } from './targets.ts';

const target = (config: object) => new Target('one', { provider: 'provider_chat', ...config }, new KnownEndpoints());
const endpoint = (config: object) => new Endpoint({ provider: 'provider_chat', ...config }, new KnownEndpoints());

describe('the URL of a request', () => {
  it.each([
    ['https://api.example', 'https://api.example/v1/models'],
    ['https://api.example/', 'https://api.example/v1/models'],
    ['https://api.example/v1', 'https://api.example/v1/models'],
    ['https://api.example/openai/v1/', 'https://api.example/openai/v1/models'],
    ['https://api.example/v1beta/openai', 'https://api.example/v1beta/openai/models'],
    ['https://api.example/vault', 'https://api.example/vault/v1/models'],
    ['https://v1.example/models', 'https://v1.example/models/v1/models'],
  ])('is that of the base URL, with a version: %s', (base_url, url) => {
    expect(endpoint({ base_url }).url('/models')).toBe(url);
  });

  it('has the provider’s own base without one', () => {
    expect(endpoint({}).url('/x')).toBe('https://api.openai.com/v1/x');
    expect(endpoint({ provider: 'provider_messages' }).url('/x')).toBe('https://api.anthropic.com/v1/x');
    expect(endpoint({ provider: 'provider_local' }).url('/x')).toBe('http://localhost:11434/v1/x');
  });

  it('has a credential in it where the config says so', () => {
    const { headers, url } = ((each) => ({ headers: each.headers, url: each.url('/x') }))(
      endpoint({ api_key: 'a&b', auth: { query: 'k y' } }),
    );
    expect([headers, url]).toEqual([[], 'https://api.openai.com/v1/x?k%20y=a%26b']);
  });
});

describe('the catalog of a target', () => {
  it.each([
    [{}, true],
    [{ allow: [] }, true],
    [{ allow: ['gpt-*'] }, true],
    [{ allow: ['o*'] }, false],
    [{ deny: ['gpt-4*'] }, false],
    [{ allow: ['gpt-*'], deny: ['*-4o'] }, false],
  ])('%j has gpt-4o: %s', (policy, has) => {
    expect(target(policy).permits('gpt-4o')).toBe(has);
  });
});

it('a credential that no header can have is refused, without being shown', () => {
  expect(() => target({ api_key: 'a\nb' })).toThrow('api_key has characters that no key has');
});

describe('the endpoints of a target', () => {
  const endpointsOf = (config: object) =>
    target(config).endpoints.map((each) => [each.url('/x'), each.headers.at(-1), each.weight]);

  it('are itself, where it lists none', () => {
    expect(endpointsOf({ api_key: 'k' })).toEqual([['https://api.openai.com/v1/x', 'Bearer k', 1]]);
  });

  it('have what it says, but for what they say', () => {
    const endpoints = [{ api_key: 'a' }, { base_url: 'https://b.example', weight: 3, auth: 'api_key' }];
    expect(endpointsOf({ api_key: 'k', base_url: 'https://k.example/v2', endpoints })).toEqual([
      ['https://k.example/v2/x', 'Bearer a', 1],
      ['https://b.example/v1/x', 'k', 3],
    ]);
  });

  it('all have a price where the cheapest is asked', () => {
    expect(() => target({ balance: 'cost', endpoints: [{ price: 1 }, {}] })).toThrow('price');
  });
});
