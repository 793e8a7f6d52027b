import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { ArtifactError, type ArtifactErrorReason } from './error.ts';
import { ARTIFACT_VERSION, type JsonObject, VERSION_FIELD } from './format.ts';
import { asJson, manifestHash, sha256 } from './hash.ts';
import { type Artifact, readArtifact } from './read.ts';
import { createSigner } from './signature.ts';
import { splitArtifact } from './split.ts';
import { readTar, writeTar } from './tar.ts';
import { sealManifest, type UnsealedManifest, writeArtifact } from './write.ts';

const wasm = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
const spec = Buffer.from('openapi: 3.1.0\n');
const routes = Buffer.from('{"operations":[],"schemas":{}}');

const unsealed: UnsealedManifest = {
  [VERSION_FIELD]: ARTIFACT_VERSION,
  compiled_at: '2026-01-01T00:00:00.000Z',
  compiler_version: '0.8.0',
  source_specs: [{ file: 'books.yaml', sha256: sha256(spec), type: 'openapi', version: '3.1.0' }],
  plugins: [
    {
      name: 'mock',
      version: '0.8.0',
      plugin_type: 'dispatcher',
      wasm_path: 'plugins/mock.wasm',
      sha256: sha256(wasm),
      capabilities: { body_access: false, host_functions: [], request_body: 'none', response_body: 'none' },
    },
  ],
  routes_count: 0,
  checksums: { 'routes.json': sha256(routes), 'plugins/mock.wasm': sha256(wasm) },
  capabilities_enforced: true,
  mcp: { enabled: false },
  provenance: {},
};
const entries = [
  { name: 'routes.json', bytes: routes },
  { name: 'specs/books.yaml', bytes: spec },
  { name: 'plugins/mock.wasm', bytes: wasm },
];

interface Header {
  readonly name: string;
  readonly type?: 'file' | 'symlink' | 'link' | 'directory';
  readonly linkname?: string;
}

let good: Uint8Array;
let folder: string;
beforeAll(async () => {
  good = (await writeArtifact(unsealed, entries)).bytes;
  folder = await mkdtemp(join(tmpdir(), 'gw-artifact-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function refusal(source: string | Uint8Array, trustedKeys: readonly string[] = []): Promise<ArtifactErrorReason> {
  const error: unknown = await readArtifact(source, { trustedKeys }).catch((reason: unknown) => reason);
  if (!(error instanceof ArtifactError)) throw new Error(`not refused as an artifact: ${String(error)}`);
  expect(error.message).not.toContain('\n');
  return error.reason;
}

/** An archive with further entries, written by a general tar writer. */
async function withEntries(...more: readonly Header[]): Promise<Uint8Array> {
  const tar = pack();
  for (const [name, bytes] of readTar(gunzipSync(good))) tar.entry({ name }, Buffer.from(bytes));
  for (const header of more) tar.entry(header, header.type === undefined ? 'x' : '');
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(Buffer.from(chunk as Uint8Array));
  return gzipSync(Buffer.concat(chunks));
}

/** An artifact whose manifest has been changed and sealed again: what is wrong is not the seal. */
async function resealed(change: Partial<UnsealedManifest> & JsonObject, files = entries): Promise<Uint8Array> {
  return (await writeArtifact({ ...unsealed, ...change }, files)).bytes;
}

/** An artifact with the manifest as given, seal or no seal. */
async function withManifest(manifest: object): Promise<Uint8Array> {
  const bytes = Buffer.from(JSON.stringify(manifest));
  return gzipSync(await writeTar([...entries, { name: 'manifest.json', bytes }]));
}

describe('readArtifact', () => {
  it('gives manifest, routes, plugins, the hash of the tar, and specs when asked', async () => {
    const artifact = await readArtifact(good);
    expect(artifact.manifest.artifact_hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(artifact.routes).toEqual({ operations: [], schemas: {} });
    expect(Buffer.from(artifact.plugins.get('mock') ?? [])).toEqual(wasm);
    expect(artifact.tarSha256).toBe(sha256(gunzipSync(good)).slice('sha256:'.length));
    expect(artifact.specNames).toEqual(['books.yaml']);
    expect(Buffer.from(await artifact.readSpec('books.yaml'))).toEqual(spec);
    await expect(artifact.readSpec('../manifest.json')).rejects.toThrow(ArtifactError);
  });

  it('reads a file, and has its specs also when the file has been replaced since', async () => {
    const file = join(folder, 'books.gwa');
    await writeFile(file, good);
    const artifact = await readArtifact(file);
    await writeFile(file, gzipSync(await writeTar([{ name: 'specs/books.yaml', bytes: Buffer.from('other') }])));
    expect(Buffer.from(await artifact.readSpec('books.yaml'))).toEqual(spec);
    await expect(artifact.readSpec('none.yaml')).rejects.toThrow('has no spec "none.yaml"');
  });

  // docs/decisions.md#artifact-in-parts
  it('reads a folder of parts as a ConfigMap volume shows them', async () => {
    const volume = join(folder, 'volume');
    const data = join(volume, '..2026_01_01');
    await mkdir(data, { recursive: true });
    const parts = splitArtifact(good, 'abc', 100);
    expect(parts.length).toBeGreaterThan(3);
    for (const { name, bytes } of parts) {
      await writeFile(join(data, name), bytes);
      await symlink(join(data, name), join(volume, name));
    }
    await symlink(data, join(volume, '..data'));
    expect((await readArtifact(volume)).manifest).toEqual((await readArtifact(good)).manifest);
    await rm(join(volume, parts[1]?.name ?? ''));
    expect(await refusal(volume)).toBe('malformed');
  });

  it('says which file or folder cannot be read', async () => {
    await expect(readArtifact(join(folder, 'gone.gwa'))).rejects.toThrow(/gone\.gwa: there is no such file/);
    await mkdir(join(folder, 'empty'));
    expect(await refusal(join(folder, 'empty'))).toBe('unreadable');
  });
});

describe('hostile archives', () => {
  it.each<Header & { readonly what: string }>([
    { what: 'a link', name: 'specs/x', type: 'symlink', linkname: '/etc/passwd' },
    { what: 'a hard link', name: 'specs/x', type: 'link', linkname: 'manifest.json' },
    { what: 'a folder', name: 'specs', type: 'directory' },
    { what: 'a path that climbs out', name: 'specs/../../x' },
    { what: 'an absolute path', name: '/etc/x' },
    { what: 'a path of another system', name: 'specs\\..\\x' },
    { what: 'a name twice', name: 'manifest.json' },
  ])('refuses $what', async ({ what: _, ...header }) => {
    expect(await refusal(await withEntries(header))).toBe('malformed');
  });

  it('refuses an entry that the manifest does not list', async () => {
    expect(await refusal(await withEntries({ name: 'specs/extra.yaml' }))).toBe('integrity');
  });

  it('refuses a manifest of many values before it is parsed', async () => {
    const wide = Buffer.from(`{"a":[${'{},'.repeat(2_100_000)}1]}`);
    const tar = pack();
    tar.entry({ name: 'manifest.json' }, wide);
    tar.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of tar) chunks.push(Buffer.from(chunk as Uint8Array));
    const archive = gzipSync(Buffer.concat(chunks));
    await expect(readArtifact(archive)).rejects.toThrow('manifest.json has more than 4000000 values');
  });

  it('refuses a missing entry', async () => {
    for (const { name } of entries) {
      const left = entries.filter((entry) => entry.name !== name);
      expect(['integrity', 'malformed']).toContain(await refusal(await resealed({}, left)));
    }
  });

  it('refuses what is not gzip, not tar, or followed by other bytes', async () => {
    expect(await refusal(Buffer.from('PK\x03\x04'))).toBe('malformed');
    expect(await refusal(Buffer.alloc(0))).toBe('malformed');
    expect(await refusal(gzipSync('x'.repeat(2048)))).toBe('malformed');
    expect(await refusal(Buffer.concat([good, Buffer.from('tail')]))).toBe('malformed');
    expect(await refusal(gzipSync(Buffer.concat([gunzipSync(good), Buffer.alloc(512, 1)])))).toBe('malformed');
    expect(await refusal(gzipSync(Buffer.concat([gunzipSync(good), Buffer.alloc(512)])))).toBe('malformed');
  });

  it('reads a last record that a tool has filled up with zeros', async () => {
    const tar = gunzipSync(good);
    const filled = Buffer.concat([tar, Buffer.alloc(10_240 - (tar.length % 10_240))]);
    expect((await readArtifact(gzipSync(filled))).manifest).toEqual((await readArtifact(good)).manifest);
    expect(await refusal(gzipSync(Buffer.concat([filled, Buffer.alloc(10_240)])))).toBe('malformed');
  });

  it('refuses a decompression bomb before it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20));
    await expect(readArtifact(bomb, { maxUnpackedBytes: 1 << 20 })).rejects.toThrow('unpacks to more than 1048576');
  });

  it('refuses any byte changed, or reads the same', async () => {
    const same = JSON.stringify(await readArtifact(good));
    const tar = gunzipSync(good);
    let refused = 0;
    for (let at = 0; at < tar.length; at++) {
      const changed = Buffer.from(tar);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      const artifact = await readArtifact(gzipSync(changed, { level: 1 })).catch((error: unknown) => error);
      if (artifact instanceof ArtifactError) refused++;
      else
        expect(JSON.stringify({ ...(artifact as Artifact), tarSha256: '' })).toBe(
          JSON.stringify({ ...JSON.parse(same), tarSha256: '' }),
        );
    }
    expect(refused).toBeGreaterThan(tar.length * 0.9);
  });

  it('refuses any byte of the compressed file changed, or reads the same', async () => {
    const same = await readArtifact(good);
    for (let at = 0; at < good.length; at++) {
      const changed = Buffer.from(good);
      changed[at] = (changed[at] ?? 0) ^ 0x40;
      const artifact = await readArtifact(changed).catch((error: unknown) => error);
      if (!(artifact instanceof ArtifactError)) expect((artifact as Artifact).tarSha256).toBe(same.tarSha256);
    }
  });

  it('refuses it cut short anywhere', async () => {
    for (let length = 0; length < good.length; length++) {
      expect(await refusal(good.subarray(0, length))).toBe('malformed');
    }
  });

  it('never ends otherwise than with a reason, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        await refusal(gzipSync(bytes));
        await refusal(bytes);
      }),
      propertyRuns(200),
    );
  });
});

describe('integrity', () => {
  it('refuses a format version that it does not read, naming both', async () => {
    const newer = await resealed({ [VERSION_FIELD]: ARTIFACT_VERSION + 1 });
    expect(await refusal(newer)).toBe('unsupported-version');
    await expect(readArtifact(newer)).rejects.toThrow(`version ${ARTIFACT_VERSION + 1}`);
  });

  it.each(['0.7.9', '0.1.0', 'dev'])('refuses compiler %s', async (compiler_version) => {
    await expect(readArtifact(await resealed({ compiler_version }))).rejects.toThrow('integrity check failed');
  });

  it.each([
    ['artifact_hash', { artifact_hash: sha256('x') }],
    ['manifest_hash', { manifest_hash: sha256('x') }],
    ['compiled_at, which artifact_hash leaves out', { compiled_at: '2027-01-01T00:00:00.000Z' }],
    ['provenance', { provenance: { commit: 'other' } }],
    ['capabilities_enforced', { capabilities_enforced: false }],
  ])('refuses a changed %s', async (_, change) => {
    expect(await refusal(await withManifest({ ...sealManifest(unsealed), ...change }))).toBe('integrity');
  });

  it('recomputes artifact_hash, also where the seal of the manifest fits', async () => {
    const other = { ...sealManifest(unsealed), mcp: { enabled: true } };
    const manifest_hash = manifestHash(asJson(other));
    await expect(readArtifact(await withManifest({ ...other, manifest_hash }))).rejects.toThrow('artifact_hash');
  });

  it.each([
    ['a field missing', { routes_count: undefined }],
    ['a field of another type', { capabilities_enforced: 'yes' }],
    ['a plugin type that is none', { plugins: [{ name: 'x' }] }],
  ])('refuses a manifest with %s', async (_, change) => {
    expect(await refusal(await withManifest({ ...sealManifest(unsealed), ...change }))).toBe('malformed');
  });

  it('refuses a count of routes that is not theirs', async () => {
    expect(await refusal(await resealed({ routes_count: 3 }))).toBe('integrity');
  });
});

describe('signatures', () => {
  const pem = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const ours = createSigner(pem());
  const other = createSigner(pem());

  it('accepts one by any of the trusted keys', async () => {
    const { bytes, manifest } = await writeArtifact(unsealed, entries, ours);
    expect(manifest.signing_public_key).toBe(ours.publicKey);
    await readArtifact(bytes, { trustedKeys: [other.publicKey, ours.publicKey] });
    await readArtifact(bytes);
  });

  it('refuses none, and one by another key', async () => {
    expect(await refusal(good, [ours.publicKey])).toBe('signature');
    const { bytes } = await writeArtifact(unsealed, entries, other);
    expect(await refusal(bytes, [ours.publicKey])).toBe('signature');
  });

  it('refuses a manifest that was sealed again by someone without the key', async () => {
    const other = { ...sealManifest(unsealed, ours), compiled_at: '2027-01-01T00:00:00.000Z' };
    const resealed = { ...other, manifest_hash: manifestHash(asJson(other)) };
    expect(await refusal(await withManifest(resealed), [ours.publicKey])).toBe('signature');
  });

  it('says what is wrong with a trusted key', async () => {
    await expect(readArtifact(good, { trustedKeys: ['abc'] })).rejects.toThrow('64 hex digits');
  });
});
