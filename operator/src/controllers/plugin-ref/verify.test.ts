/** PluginRefs that ask for a signature: signed, by somebody else, not at all. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileServer, sha256, startFileServer, testFetcher } from '../../../../test/source-rig.ts';
import { configMaps, pluginRefs, secrets } from '../../api/resources.ts';
import { MemoryObjects } from '../../local/memory-objects.ts';
import type { OpenFetcher } from '../../sources/open-fetcher.ts';
import { parseKeys } from '../../sources/signature.ts';
import { catalog } from './catalog.ts';
import { readPlugin } from './plugin-package.ts';

const wasm = Buffer.from('\0asm\x01\0\0\0');
const cosign = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
const fingerprint = parseKeys(pem(cosign.publicKey), 'the test')[0]?.fingerprint;
const signature = sign('sha256', wasm, cosign.privateKey).toString('base64');
const metadata = (name: string) => ({ name, namespace: 'shop' });

let objects: MemoryObjects;
let server: FileServer;
let fetcher: OpenFetcher;
beforeEach(async () => {
  objects = new MemoryObjects();
  server = await startFileServer();
  fetcher = testFetcher(objects, { plainHttpSources: [server.host] });
});
afterEach(async () => {
  await fetcher.close();
  await server.close();
});

async function verified(source: object, verify: object): Promise<string | undefined> {
  const ref = pluginRefs.parse({ metadata: metadata('echo'), spec: { source, verify } });
  const deps = { objects, catalog, sources: fetcher.sources };
  const done = new Promise<void>((resolve) => fetcher.sources.onChange(() => resolve()));
  let read = await readPlugin(deps, ref);
  if (!read.ok && read.reason === 'Fetching') {
    await done;
    read = await readPlugin(deps, ref);
  }
  return read.ok ? read.verifiedBy : `${read.reason}: ${read.message}`;
}

async function packaged(keys: Readonly<Record<string, string | Uint8Array>>): Promise<object> {
  const binaryData = Object.fromEntries(
    Object.entries(keys).map(([key, content]) => [key, Buffer.from(content).toString('base64')]),
  );
  await objects.apply(configMaps, configMaps.parse({ metadata: metadata('echo'), binaryData }));
  return { configMap: { name: 'echo' } };
}

const ours = { keys: [pem(stranger.publicKey), pem(cosign.publicKey)] };

describe('a plugin in a ConfigMap', () => {
  it('is verified by the signature beside it, in another key, or in the spec', async () => {
    expect(await verified(await packaged({ 'e.wasm': wasm, 'e.wasm.sig': signature }), ours)).toBe(fingerprint);
    const elsewhere = { ...ours, signatureKey: 'cosign' };
    expect(await verified(await packaged({ 'e.wasm': wasm, cosign: signature }), elsewhere)).toBe(fingerprint);
    expect(await verified(await packaged({ 'e.wasm': wasm }), { ...ours, signature })).toBe(fingerprint);
  });

  it('is verified by a key of a Secret', async () => {
    const source = await packaged({ 'e.wasm': wasm, 'e.wasm.sig': signature });
    const verify = { keySecret: { name: 'keys', key: 'cosign.pub' } };
    expect(await verified(source, verify)).toMatch(/^SourceNotFound: Secret "keys"/);
    const data = { 'cosign.pub': Buffer.from(pem(cosign.publicKey)).toString('base64') };
    await objects.apply(secrets, secrets.parse({ metadata: metadata('keys'), data }));
    expect(await verified(source, verify)).toBe(fingerprint);
    expect(await verified(source, { keySecret: { name: 'keys', key: 'none' } })).toMatch(/^SourceNotFound: .*"none"/);
  });

  it('is refused unsigned, signed by another, and when it is another', async () => {
    expect(await verified(await packaged({ 'e.wasm': wasm }), ours)).toBe(
      'SignatureInvalid: "echo" has no key "e.wasm.sig"',
    );
    const signed = { 'e.wasm': wasm, 'e.wasm.sig': signature };
    expect(await verified(await packaged(signed), { keys: [pem(stranger.publicKey)] })).toMatch(/^SignatureInvalid/);
    const other = { ...signed, 'e.wasm': Buffer.concat([wasm, Buffer.from('\0\x01\0')]) };
    expect(await verified(await packaged(other), ours)).toMatch(/^SignatureInvalid/);
    expect(await verified(await packaged(signed), { keys: ['nonsense'] })).toMatch(
      /^InvalidSpec: spec.verify.keys\[0\] holds what is neither/,
    );
    expect(await verified(await packaged(signed), {})).toMatch(/^InvalidSpec: spec.verify: keys or keySecret/);
  });
});

describe('a plugin at a URL', () => {
  const source = () => ({ url: { url: `${server.url}/echo.wasm?token=xyzzy`, sha256: sha256(wasm) } });
  beforeEach(() => void server.files.set('/echo.wasm?token=xyzzy', wasm));

  it('is verified by the signature that lies beside it, or elsewhere', async () => {
    server.files.set('/echo.wasm.sig?token=xyzzy', `${signature}\n`);
    expect(await verified(source(), ours)).toBe(fingerprint);
    server.files.set('/signatures/echo', signature);
    expect(await verified(source(), { ...ours, signatureUrl: `${server.url}/signatures/echo` })).toBe(fingerprint);
  });

  it('is refused without, and says where it was looked for', async () => {
    expect(await verified(source(), ours)).toBe(
      `SignatureInvalid: there is no signature at ${server.url}/echo.wasm.sig (404)`,
    );
  });
});
