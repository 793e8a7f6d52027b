/** What is said of differences between a cluster and its control plane. */
import { expect, it } from 'vitest';
import { capped, differences, type Expected } from './drift.ts';

const plugin = (config: Record<string, string>) => ({
  plugin_name: 'mock',
  plugin_version: '1.0.0',
  enabled: true,
  config,
});
const cluster: Expected = {
  specs: [{ name: 'books', sha256: 'a' }],
  plugins: [plugin({ body: 'hello' })],
  upstreams: { shop: 'https://shop.example.org' },
  mcp: { upstreams: { wiki: { url: 'https://wiki.example.org/mcp' } } },
};

it('nothing differs, whatever the order of properties', () => {
  const { plugin_name, plugin_version, enabled, config } = plugin({ body: 'hello' });
  const found = { ...cluster, plugins: [{ config, enabled, plugin_version, plugin_name }] };
  expect(differences(found, cluster)).toEqual([]);
});

it('names what was changed, added and taken away, and what becomes of it', () => {
  const found = {
    specs: [{ name: 'more', sha256: 'b' }],
    plugins: [plugin({ body: 'other' })],
    upstreams: { shop: 'https://elsewhere.example.org' },
    mcp: { upstreams: { wiki: { url: 'https://wiki.example.org/mcp', prefix: '' }, more: { url: 'https://x/' } } },
  };
  const back = 'the next change of the GatewayProject reverts it';
  expect(differences(found, cluster)).toEqual([
    `spec "more" was added there: ${back}`,
    `spec "books" is not there: ${back}`,
    `plugin "mock" was changed there: ${back}`,
    `upstream "shop" was changed there: ${back}`,
    `MCP upstream "wiki" was changed there: ${back}`,
    `MCP upstream "more" was added there: ${back}`,
  ]);
});

it('has as many lines, of such length, as a status holds', () => {
  const lines = capped(Array.from({ length: 50 }, () => 'x'.repeat(1000)));
  expect(lines).toHaveLength(20);
  expect(lines[0]).toHaveLength(512);
  expect(lines.at(-1)).toBe('and 31 more');
  expect(capped(['one'])).toEqual(['one']);
});
