/** `host_verify_signature`, as a plugin that checks signed bodies sees it. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PluginKit, testPlugin } from '../../../../sdk/testing/index.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pairs = {
  RS256: rsa,
  RS384: rsa,
  RS512: rsa,
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
} as const;
type Algorithm = keyof typeof pairs;
const algorithms = Object.keys(pairs).filter((each): each is Algorithm => each in pairs);

const pemOf = (alg: Algorithm) => pairs[alg].publicKey.export({ type: 'spki', format: 'pem' }).toString();
const signed = (alg: Algorithm, body: string) =>
  sign(`sha${alg.slice(2)}`, Buffer.from(body), { key: pairs[alg].privateKey, dsaEncoding: 'ieee-p1363' });

describe('host_verify_signature', () => {
  let kit: PluginKit;
  beforeAll(async () => {
    kit = await testPlugin(join(import.meta.dirname, '../../../../../test/fixtures/plugins/signature-checker'));
  });
  afterAll(() => kit.close());
  const check = (config: Record<string, string>, signature: Uint8Array, body = 'hello') => {
    const headers = { 'x-signature': Buffer.from(signature).toString('hex') };
    return kit.onRequest({ config, method: 'POST', headers, body });
  };

  it.each(algorithms)('%s: holds for what was signed, and for nothing else', async (alg) => {
    const config = { alg, key: pemOf(alg) };
    const signature = signed(alg, 'hello');
    expect((await check(config, signature)).outcome).toBe('continue');
    expect((await check(config, signature, 'hellO')).answer?.status).toBe(401);
    expect((await check(config, signature.subarray(1))).answer?.status).toBe(401);
    expect((await check(config, new Uint8Array(signature.length))).answer?.status).toBe(401);
    expect((await check(config, new Uint8Array(0))).answer?.status).toBe(401);
  });

  it.each([
    ['an algorithm that it does not know', { alg: 'HS256', key: pemOf('RS256') }, '"HS256" is not a known algorithm'],
    ['a key of another type', { alg: 'ES256', key: pemOf('RS256') }, 'the key is not one for ES256'],
    ['a key of another curve', { alg: 'ES256', key: pemOf('ES384') }, 'the key is not one for ES256'],
    ['a key that is none', { alg: 'RS256', key: 'secret' }, 'it is not a public key in PEM'],
  ])('fails the call with %s', async (_what, config, says) => {
    const { problem, logs } = await check(config, signed('RS256', 'hello'));
    expect(problem?.['type']).toBe('urn:gw:error:plugin-failed');
    expect(logs.map(({ message }) => message).join()).toContain(says);
  });
});
