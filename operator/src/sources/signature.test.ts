/** Signatures in the very formats of cosign, made with openssl where it is there. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { OPENSSL } from '../../../test/serve/http.ts';
import { imageSignerOf, parseKeys, signatureText, signerOf } from './signature.ts';

const DIGEST = `sha256:${'d'.repeat(64)}`;
const bytes = Buffer.from('\0asm and more');
const ecdsa = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519 = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
const keys = (...of: KeyObject[]) => parseKeys(of.map(pem).join('\n'), 'the test');
const byCosign = (message: Uint8Array) => sign('sha256', message, ecdsa.privateKey).toString('base64');

/** What `cosign sign` puts into a registry. */
function payload(digest = DIGEST, type = 'cosign container image signature'): Buffer {
  const identity = { 'docker-reference': 'registry.example.org/plugin' };
  return Buffer.from(
    JSON.stringify({ critical: { identity, image: { 'docker-manifest-digest': digest }, type }, optional: null }),
  );
}

describe('a signature of a file', () => {
  it('is one of cosign sign-blob: base64 of DER, ECDSA on P-256 over the bytes', () => {
    expect(signerOf(keys(other.publicKey, ecdsa.publicKey), bytes, `${byCosign(bytes)}\n`)?.key).toEqual(
      ecdsa.publicKey,
    );
  });

  it('is one of Ed25519, in base64 or hex, by a key in PEM or hex', () => {
    const signature = sign(null, bytes, ed25519.privateKey);
    const raw = ed25519.publicKey.export({ format: 'jwk' }).x ?? '';
    const hex = parseKeys(Buffer.from(raw, 'base64url').toString('hex'), 'the test');
    const [fromPem] = keys(ed25519.publicKey);
    for (const text of [signature.toString('base64'), signature.toString('hex')]) {
      expect(signerOf(keys(ed25519.publicKey), bytes, text)?.fingerprint).toBe(fromPem?.fingerprint);
      expect(signerOf(hex, bytes, text)?.fingerprint).toBe(fromPem?.fingerprint);
    }
  });

  it('of another file, by another key, or that is none, is refused', () => {
    const signature = byCosign(bytes);
    expect(signerOf(keys(ecdsa.publicKey), Buffer.from('other'), signature)).toBeUndefined();
    expect(signerOf(keys(other.publicKey, ed25519.publicKey), bytes, signature)).toBeUndefined();
    for (const none of ['', 'AAAA', '!', '0'.repeat(128)])
      expect(signerOf(keys(ecdsa.publicKey, ed25519.publicKey), bytes, none)).toBeUndefined();
  });

  it('is void when any byte of file or signature is another', () => {
    const trusted = keys(ecdsa.publicKey, ed25519.publicKey);
    const message = fc.uint8Array({ minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(message, fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), (file, at, flip, isEd) => {
        const signature = isEd ? sign(null, file, ed25519.privateKey) : sign('sha256', file, ecdsa.privateKey);
        expect(signerOf(trusted, file, signature.toString('base64'))).toBeDefined();
        const tampered = (of: Uint8Array) => of.map((byte, i) => (i === at % of.length ? byte ^ flip : byte));
        expect(signerOf(trusted, tampered(file), signature.toString('base64'))).toBeUndefined();
        expect(signerOf(trusted, file, Buffer.from(tampered(signature)).toString('base64'))).toBeUndefined();
      }),
      propertyRuns(100),
    );
  });
});

describe('a signature of an image', () => {
  const signed = (content: Buffer) => ({ payload: content, signature: byCosign(content) });

  it('is of a payload that names its digest', () => {
    const signatures = [{ payload: payload(), signature: 'AAAA' }, signed(payload())];
    expect(imageSignerOf(keys(ecdsa.publicKey), DIGEST, signatures)?.key).toEqual(ecdsa.publicKey);
  });

  it.each([
    ['of another image', signed(payload(`sha256:${'e'.repeat(64)}`))],
    ['that is of something else', signed(payload(DIGEST, 'atomic container signature'))],
    ['of what is no payload', signed(Buffer.from('[]'))],
    ['that is not of its payload', { payload: payload(), signature: byCosign(payload(`sha256:${'e'.repeat(64)}`)) }],
  ])('%s is refused', (_, signature) => {
    expect(imageSignerOf(keys(ecdsa.publicKey), DIGEST, [signature])).toBeUndefined();
  });
});

describe('keys', () => {
  it.each([
    ['nothing', ' \n', 'holds no public key'],
    ['a private key', ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 'a private key'],
    ['hex that is too short', 'abcd', 'neither a public key in PEM nor 64 hex digits'],
    ['a broken block', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'neither a public key in PEM'],
    ['RSA', pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey), 'key of type rsa'],
    ['another curve', pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey), 'key of type ec'],
  ])('that hold %s are refused, without a word of them', (_, text, message) => {
    expect(() => parseKeys(text, 'the test')).toThrow(message);
    try {
      parseKeys(text, 'the test');
    } catch (error) {
      expect(String(error)).not.toContain('AAAA');
    }
  });
});

describe.skipIf(!OPENSSL && process.env['GW_NO_SKIP'] !== '1')('what openssl signs (needs openssl)', () => {
  let dir = '';
  const at = (name: string) => join(dir, name);
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: dir, stdio: ['ignore', 'pipe', 'ignore'] });
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-sign-'));
    writeFileSync(at('plugin.wasm'), bytes);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('with ECDSA on P-256, in base64 or as it is', () => {
    openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'key.pem');
    const trusted = parseKeys(openssl('ec', '-in', 'key.pem', '-pubout').toString(), 'the test');
    const binary = openssl('dgst', '-sha256', '-sign', 'key.pem', 'plugin.wasm');
    expect(signerOf(trusted, bytes, signatureText(binary))).toBe(trusted[0]);
    expect(signerOf(trusted, bytes, signatureText(Buffer.from(binary.toString('base64'))))).toBe(trusted[0]);
  });

  it('with Ed25519', () => {
    openssl('genpkey', '-algorithm', 'ed25519', '-out', 'ed.pem');
    const trusted = parseKeys(openssl('pkey', '-in', 'ed.pem', '-pubout').toString(), 'the test');
    const binary = openssl('pkeyutl', '-sign', '-inkey', 'ed.pem', '-rawin', '-in', 'plugin.wasm');
    expect(signerOf(trusted, bytes, signatureText(binary))).toBe(trusted[0]);
  });
});
