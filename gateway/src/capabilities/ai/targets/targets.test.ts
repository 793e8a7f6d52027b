import { describe, expect, it } from 'vitest';
import { Target } from './targets.ts';

const target = (config: object) => new Target({ provider: 'provider_chat', ...config }, new Map());

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
    expect(target({ base_url }).url('/models')).toBe(url);
  });

  it('has the provider’s own base without one', () => {
    expect(target({}).url('/x')).toBe('https://api.openai.com/v1/x');
    expect(target({ provider: 'provider_messages' }).url('/x')).toBe('https://api.anthropic.com/v1/x');
    expect(target({ provider: 'provider_local' }).url('/x')).toBe('http://localhost:11434/v1/x');
  });

  it('has a credential in it where the config says so', () => {
    const { headers, url } = ((each) => ({ headers: each.headers, url: each.url('/x') }))(
      target({ api_key: 'a&b', auth: { query: 'k y' } }),
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
