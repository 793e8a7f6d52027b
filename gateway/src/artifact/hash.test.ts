import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import type { Manifest } from './format.ts';
import { artifactHash, artifactHashInput, asJson, manifestHash, sha256 } from './hash.ts';
import { createSigner } from './signature.ts';
import { sealManifest } from './write.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'artifact.md'), 'utf8');

function block(language: string): string {
  const text = page.match(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\``))?.[1];
  if (text === undefined) throw new Error(`docs/artifact.md has no ${language} block`);
  return text;
}

const documented: Manifest = JSON.parse(block('json'));

it('is recomputed from the test vector of docs/artifact.md', () => {
  expect(artifactHashInput(documented)).toBe(block('canonical'));
  expect(sha256(block('canonical'))).toBe(documented.artifact_hash);
  expect(artifactHash(documented)).toBe(documented.artifact_hash);
  expect(manifestHash(asJson(documented))).toBe(documented.manifest_hash);
});

it('signs as the test vector is signed', () => {
  const {
    artifact_hash: _,
    signature: __,
    signing_public_key: ___,
    manifest_hash: ____,
    manifest_signature: _____,
    ...rest
  } = documented;
  expect(sealManifest(rest, createSigner(block('pem')))).toEqual(documented);
});

it.each<[string, Partial<Manifest>]>([
  ['a spec', { source_specs: documented.source_specs.map((spec) => ({ ...spec, sha256: sha256('other') })) }],
  ['routes', { checksums: { ...documented.checksums, 'routes.json': sha256('other') } }],
  ['capabilities_enforced', { capabilities_enforced: false }],
  ['mcp', { mcp: { enabled: false } }],
  ['a plugin version', { plugins: documented.plugins?.map((plugin) => ({ ...plugin, version: '9.9.9' })) ?? [] }],
  [
    'a plugin type',
    { plugins: documented.plugins?.map((plugin) => ({ ...plugin, plugin_type: 'middleware' as const })) ?? [] },
  ],
])('covers %s', (_, change) => {
  expect(artifactHash({ ...documented, ...change })).not.toBe(documented.artifact_hash);
});

it('sorts members by UTF-16 code units, as RFC 8785 has it', () => {
  const members = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
  expect(canonicalJson(members)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
  expect(canonicalJson([1e21, 0.1, -0, 'a/"b"', null, true])).toBe('[1e+21,0.1,0,"a/\\"b\\"",null,true]');
});
