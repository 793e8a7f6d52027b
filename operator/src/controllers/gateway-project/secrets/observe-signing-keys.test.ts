/** The keys that sign artifacts and that pods trust, as Secrets hold them. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { gatewayProjects, secrets } from '../../../api/resources.ts';
import { MemoryObjects } from '../../../local/memory-objects.ts';
import { readSigningKeys } from './observe-signing-keys.ts';

const pair = () => generateKeyPairSync('ed25519');
const hex = (key: KeyObject) => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
const privatePem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const publicPem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

function project(signing: object) {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 1 },
    spec: { specs: { selector: {} }, signing },
  });
}

describe('the keys of a project', () => {
  let objects: MemoryObjects;
  const secret = async (name: string, data: Readonly<Record<string, string>>) => {
    const base64 = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    const object = { metadata: { name, namespace: 'default' }, data: Object.fromEntries(base64) };
    await objects.apply(secrets, secrets.parse(object));
  };
  beforeEach(() => {
    objects = new MemoryObjects();
  });

  it('are all trusted: that which signs, those listed, and those of Secrets in hex and PEM, public and private', async () => {
    const [signing, listed, inHex, inPem, before] = [pair(), pair(), pair(), pair(), pair()];
    await secret('signing', { 'signing.pem': privatePem(signing.privateKey) });
    await secret('trusted', { keys: `${hex(inHex.publicKey)}\n${publicPem(inPem.publicKey)}` });
    await secret('old', { 'signing.pem': privatePem(before.privateKey) });
    const keys = await readSigningKeys(
      objects,
      project({
        keySecret: { name: 'signing' },
        trustedKeys: [hex(listed.publicKey).toUpperCase()],
        trustedKeySecrets: [
          { name: 'trusted', key: 'keys' },
          { name: 'old', key: 'signing.pem' },
        ],
      }),
    );
    expect(keys.signing).toMatchObject({ ok: true, publicKey: hex(signing.publicKey) });
    const expected = [signing, listed, inPem, inHex, before].map(({ publicKey }) => hex(publicKey));
    expect(keys.trusted).toEqual(expected);
    expect(keys.problems).toEqual([]);
  });

  it('that cannot be had are named with their Secret, and never shown', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    await secret('rsa', { 'signing.pem': privatePem(rsa) });
    await secret('words', { keys: 'correct horse battery staple' });
    await secret('empty', { keys: ' \n' });
    const keys = await readSigningKeys(
      objects,
      project({
        keySecret: { name: 'rsa' },
        trustedKeySecrets: ['words', 'empty', 'gone'].map((name) => ({ name, key: 'keys' })),
      }),
    );
    expect(keys.signing).toMatchObject({ ok: false, reason: 'SourceInvalid' });
    expect(keys.trusted).toEqual([]);
    expect(keys.problems.map(({ reason }) => reason)).toEqual(['SourceInvalid', 'SourceInvalid', 'SourceNotFound']);
    const told = JSON.stringify(keys);
    expect(told).toContain('key \\"keys\\" of Secret \\"words\\"');
    expect(told).not.toMatch(/horse|BEGIN/);
  });

  it('are none where a project names none', async () => {
    expect(await readSigningKeys(objects, project({}))).toEqual({ trusted: [], problems: [] });
  });
});
