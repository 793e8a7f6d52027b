/** The documents that pages for users of other gateways show compile as they are. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, it } from 'vitest';
import { compileSpec } from '../serve/gateway.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const pages = globSync('docs/coming-from/*.md', { cwd: ROOT }).sort();

it.each(pages)('%s', async (page) => {
  const fences = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) =>
    load(text),
  );
  const documents = fences.map(documentOf).filter((document) => document !== null);
  expect(documents).toHaveLength(1);
  for (const document of documents) {
    const plugins = [...JSON.stringify(document).matchAll(/"name":"([a-z-]+)","config"/g)].map(([, name = '']) => name);
    expect((await compileSpec(document, [...new Set(plugins)])).length).toBeGreaterThan(0);
  }
});

/** An OpenAPI document, or the paths of one, or an ApiSpec with one in it; null for the other gateway's configuration. */
function documentOf(value: unknown): object | null {
  const document = value as { paths?: object; kind?: string; spec?: { source: { inline: string } } };
  const { paths, kind, spec } = document;
  if (kind === 'ApiSpec' && spec) return load(spec.source.inline) as object;
  return paths ? { openapi: '3.1.0', info: { title: 'Books', version: '1' }, ...document } : null;
}
