/** A plugin that was not written with our SDK: Rust, from the ABI alone (sdk/ABI.md). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPluginPackage } from '../../gateway/src/plugins/package.ts';
import { runGw } from '../cli/gw-process.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const folder = join(import.meta.dirname, '..', '..', 'examples', 'plugins', 'language');
const file = (name: string) => readFileSync(join(folder, name));

let gw: Gateway;
beforeAll(async () => {
  const plugin = readPluginPackage({
    manifest: file('plugin.toml'),
    configSchema: file('config-schema.json'),
    wasm: file('language.wasm'),
  });
  const get = {
    'x-gw-middlewares': [{ name: 'language', config: { languages: ['en', 'de-CH', 'fr'] } }],
    'x-gw-dispatch': { name: 'mock', config: { body: '{{headers.x-language}}', content_type: 'text/plain' } },
    responses: { 200: { description: 'OK' } },
  };
  const document = { openapi: '3.1.0', info: { title: 'Languages', version: '1' }, paths: { '/a': { get } } };
  gw = await startGateway(await compileSpec(document, ['mock'], [plugin]));
});
afterAll(async () => {
  await gw?.stop();
});

it.each([
  ['de;q=0.9, fr;q=0.5', 'de-CH'],
  ['fr', 'fr'],
  ['ja', 'en'],
  ['en;q=0, *', 'de-CH'],
  [`${'x,'.repeat(2000)}fr`, 'en'],
])('answers in gw serve: %.20s', async (accept, language) => {
  const answer = await fetch(`${gw.url}/a`, { headers: { 'accept-language': accept, 'x-language': 'xx' } });
  expect([answer.status, await answer.text()]).toEqual([200, language]);
  expect(answer.headers.get('content-language')).toBe(language);
  expect(answer.headers.get('vary')).toBe('accept-language');
});

it('keeps nothing from one request to the next, over many at once', async () => {
  const answers = Array.from({ length: 200 }, async (_, i) => {
    const language = ['en', 'de-CH', 'fr'][i % 3] ?? '';
    const answer = await fetch(`${gw.url}/a`, { headers: { 'accept-language': language } });
    return (await answer.text()) === language;
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set([true]));
});

it('passes its own cases', async () => {
  const { code, stdout } = await runGw(['plugin', 'test', folder]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('9 passed, 0 failed')]);
});
