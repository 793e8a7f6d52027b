/** Sources in an OCI registry, as ORAS, docker and cosign put them there: on a real one. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tarOf, testEgress, testFetcher } from '../../../test/source-rig.ts';
import { secrets } from '../api/resources.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import { RegistryClient } from '../registry/client.ts';
import type { Repository } from '../registry/repository.ts';
import type { OpenFetcher } from './open-fetcher.ts';
import { imageSignerOf, parseKeys } from './signature.ts';
import type { FetchedSource, OciRequest, SourceOwner } from './source.ts';

const REGISTRY = process.env['OCI_REGISTRY'];
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const WASM = Buffer.from('\0asm\x01\0\0\0');
const owner: SourceOwner = { kind: 'PluginRef', namespace: 'shop', name: 'echo' };

describe.skipIf(!REGISTRY && process.env['GW_NO_SKIP'] !== '1')('a source in a registry (needs OCI_REGISTRY)', () => {
  const registry = REGISTRY ?? '';
  let objects: MemoryObjects;
  let fetcher: OpenFetcher;
  let client: RegistryClient;
  let repository: Repository;
  let name = '';
  beforeEach(() => {
    objects = new MemoryObjects();
    const options = { plainHttpRegistries: [registry] };
    fetcher = testFetcher(objects, options);
    client = new RegistryClient(testEgress(options));
    name = `gw-test/${randomUUID()}`;
    repository = client.repository({ registry, repository: name }, { plainHttp: true });
  });
  afterEach(async () => {
    await fetcher.close();
    await client.close();
  });

  interface Layer {
    readonly bytes: Uint8Array;
    readonly mediaType?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  }

  const titled = (title: string, bytes: Uint8Array): Layer => ({
    bytes,
    annotations: { 'org.opencontainers.image.title': title },
  });

  async function push(tag: string, layers: readonly Layer[]): Promise<string> {
    const config = {
      mediaType: 'application/vnd.oci.empty.v1+json',
      ...(await repository.pushBlob(Buffer.from('{}'))),
    };
    const pushed = [];
    for (const { bytes, mediaType = 'application/vnd.oci.image.layer.v1.tar', annotations } of layers)
      pushed.push({ mediaType, ...(await repository.pushBlob(bytes)), ...(annotations ? { annotations } : {}) });
    const manifest = { schemaVersion: 2, mediaType: MANIFEST, config, layers: pushed };
    return repository.pushManifest(Buffer.from(JSON.stringify(manifest)), MANIFEST, tag);
  }

  async function fetched(request: Partial<OciRequest>): Promise<FetchedSource | string> {
    const whole = {
      type: 'oci',
      reference: `${registry}/${name}:1`,
      plainHttp: true,
      signatures: false,
      intervalSeconds: 300,
      ...request,
    } as const;
    const done = new Promise<void>((resolve) => fetcher.sources.onChange(() => resolve()));
    if (fetcher.sources.look(owner, whole).state === 'fetching') await done;
    const state = fetcher.sources.look(owner, whole);
    if (state.state === 'fetched') return state.source;
    return state.state === 'failed' ? `${state.problem.reason}: ${state.problem.message}` : state.state;
  }

  const names = (source: FetchedSource | string) =>
    typeof source === 'string' ? source : [...source.content.files.keys()].join(' ');

  it('has the files that ORAS pushed, by their titles', async () => {
    await push('1', [titled('plugin.toml', Buffer.from('x')), titled('echo.wasm', WASM)]);
    const source = await fetched({});
    expect(names(source)).toBe('plugin.toml echo.wasm');
    expect(source).toMatchObject({ final: false });
  });

  it('has the files of an image, later layers over earlier ones', async () => {
    const first = gzipSync(await tarOf({ './a.yaml': 'old', 'b.yaml': 'b' }));
    await push('1', [{ bytes: first }, { bytes: await tarOf({ 'a.yaml': 'new' }) }]);
    const source = await fetched({});
    const a = typeof source === 'string' ? source : Buffer.from(source.content.files.get('a.yaml') ?? '').toString();
    expect([names(source), a]).toEqual(['a.yaml b.yaml', 'new']);
  });

  it('may be a bare module, and named by its digest: then it is final', async () => {
    const digest = await push('1', [{ bytes: WASM, mediaType: 'application/wasm' }]);
    const source = await fetched({ reference: `${registry}/${name}@${digest}` });
    expect(names(source)).toBe('plugin.wasm');
    expect(source).toMatchObject({ final: true, content: { digest } });
  });

  it('may be an index of one image, beside its provenance', async () => {
    const digest = await push('image', [titled('a.yaml', Buffer.from('a'))]);
    const { bytes } = await repository.manifest(digest);
    const image = { mediaType: MANIFEST, digest, size: bytes.length };
    const provenance = { ...image, annotations: { 'vnd.docker.reference.type': 'attestation-manifest' } };
    const index = (manifests: readonly object[]) =>
      Buffer.from(
        JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests }),
      );
    await repository.pushManifest(index([image, provenance]), 'application/vnd.oci.image.index.v1+json', '1');
    expect(names(await fetched({}))).toBe('a.yaml');
    await repository.pushManifest(index([image, image]), 'application/vnd.oci.image.index.v1+json', '2');
    expect(await fetched({ reference: `${registry}/${name}:2` })).toMatch(/^SourceInvalid: .*index of 2 images/);
  });

  it('says what is wrong with it', async () => {
    expect(await fetched({})).toBe(`SourceUnavailable: ${registry}/${name}:1 does not exist`);
    expect(await fetched({ reference: 'Registry/x' })).toMatch(/^InvalidSpec: .*is not a valid image reference/);
    expect(await fetched({ plainHttp: false })).toMatch(/^SourceUnavailable/);
    await push('1', [{ bytes: Buffer.from('neither') }]);
    expect(await fetched({ intervalSeconds: 301 })).toMatch(
      /^SourceInvalid: .*not a tar archive and has no annotation/,
    );
    expect(await fetched({ pullSecret: 'none' })).toMatch(
      /^SourceNotFound: .*Secret "none" is not in namespace "shop"/,
    );
    const metadata = { name: 'bad', namespace: 'shop' };
    const data = { '.dockerconfigjson': Buffer.from('{"auths": "xyzzy"}').toString('base64') };
    await objects.apply(secrets, secrets.parse({ metadata, data }));
    const problem = await fetched({ pullSecret: 'bad' });
    expect(problem).toMatch(/^SourceInvalid: .*key ".dockerconfigjson" of Secret "bad"/);
    expect(problem).not.toContain('xyzzy');
  });

  it('is refused over plain HTTP, and at internal addresses, where the operator does not allow it', async () => {
    await fetcher.close();
    fetcher = testFetcher(objects);
    expect(await fetched({})).toMatch(/^SourceUnavailable: .*--plain-http-registry/);
    await fetcher.close();
    fetcher = testFetcher(objects, { plainHttpRegistries: [registry], allow: [] });
    expect(await fetched({})).toMatch(/^SourceUnavailable: .*--egress-allow/);
  });

  it('is signed as cosign signs: by a payload that names its digest, under a tag of that', async () => {
    const digest = await push('1', [titled('echo.wasm', WASM)]);
    const unsigned = await fetched({ signatures: true });
    expect(unsigned).toMatchObject({ signatures: [], unsigned: expect.stringContaining(digest) });

    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const critical = {
      identity: { 'docker-reference': `${registry}/${name}` },
      image: { 'docker-manifest-digest': digest },
      type: 'cosign container image signature',
    };
    const payload = Buffer.from(JSON.stringify({ critical, optional: null }));
    await push(`${digest.replace(':', '-')}.sig`, [
      {
        bytes: payload,
        mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
        annotations: { 'dev.cosignproject.cosign/signature': sign('sha256', payload, privateKey).toString('base64') },
      },
    ]);
    const signed = await fetched({ signatures: true, intervalSeconds: 301 });
    if (typeof signed === 'string') throw new Error(signed);
    const keys = parseKeys(publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'the test');
    expect(imageSignerOf(keys, digest, signed.signatures ?? [])).toBe(keys[0]);
  });
});
