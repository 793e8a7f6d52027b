/** The keys of a GatewayProject: the private one that signs its artifacts, and the public ones that its pods trust. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Read, type Refusal, refuse } from '../../../api/refusal.ts';
import type { GatewayProject } from '../../../api/resources.ts';
import type { Objects } from '../../../runtime/objects.ts';
import { readSecret } from '../../../sources/read-source.ts';

interface SigningKey {
  readonly pem: string;
  /** Public key, in hex. */
  readonly publicKey: string;
}

export interface SigningKeys {
  /** Undefined if the project names no key. */
  readonly signing?: Read<SigningKey>;
  /** Public keys in hex that pods trust, with the signing key first. */
  readonly trusted: readonly string[];
  /** Keys that are named and cannot be had. */
  readonly problems: readonly Refusal[];
}

const PEM_BLOCK = /-----BEGIN (PUBLIC|PRIVATE) KEY-----[^-]+-----END \1 KEY-----/g;
const HEX_KEY = /^[0-9a-f]{64}$/;

/** `refused`: Secrets that the project may not use, which are not read. */
export async function readSigningKeys(
  objects: Objects,
  project: GatewayProject,
  refused: ReadonlySet<string> = new Set(),
): Promise<SigningKeys> {
  const { keySecret: named, trustedKeys = [], trustedKeySecrets: listed = [] } = project.spec.signing ?? {};
  const keySecret = named && !refused.has(named.name) ? named : undefined;
  const trustedKeySecrets = listed.filter(({ name }) => !refused.has(name));
  const namespace = project.metadata.namespace ?? 'default';
  const signing = keySecret && (await readSigningKey(objects, namespace, keySecret));
  const more = await Promise.all(trustedKeySecrets.map((each) => readTrustedKeys(objects, namespace, each)));
  const trusted = [
    ...(signing?.ok ? [signing.publicKey] : []),
    ...trustedKeys.map((hex) => hex.toLowerCase()),
    ...more.flatMap((read) => (read.ok ? read.keys : [])),
  ];
  return {
    ...(signing ? { signing } : {}),
    trusted: [...new Set(trusted)],
    problems: more.flatMap((read) => (read.ok ? [] : [{ reason: read.reason, message: read.message }])),
  };
}

interface SecretKey {
  readonly name: string;
  readonly key: string;
}

async function readKeyText(
  objects: Objects,
  namespace: string,
  { name, key }: SecretKey,
): Promise<Read<{ text: string }>> {
  const read = await readSecret(objects, namespace, name);
  if (!read.ok) return read;
  const bytes = read.entries.get(key);
  if (!bytes) return refuse('SourceNotFound', `Secret "${name}" has no key "${key}"`);
  return { ok: true, text: Buffer.from(bytes).toString('utf8') };
}

async function readSigningKey(objects: Objects, namespace: string, secret: SecretKey): Promise<Read<SigningKey>> {
  const read = await readKeyText(objects, namespace, secret);
  if (!read.ok) return read;
  try {
    return { ok: true, pem: read.text, publicKey: hexOf(createPublicKey(createPrivateKey(read.text))) };
  } catch {
    // The cause is not repeated: messages about keys have been known to quote them.
    return refuse(
      'SourceInvalid',
      `key "${secret.key}" of Secret "${secret.name}" is not a PKCS#8 Ed25519 private key in PEM`,
    );
  }
}

/** Reads keys in hex or PEM, one after another; of a private key its public half. */
async function readTrustedKeys(
  objects: Objects,
  namespace: string,
  secret: SecretKey,
): Promise<Read<{ keys: readonly string[] }>> {
  const read = await readKeyText(objects, namespace, secret);
  if (!read.ok) return read;
  try {
    const blocks = read.text.match(PEM_BLOCK) ?? [];
    const words = read.text
      .replaceAll(PEM_BLOCK, ' ')
      .split(/[\s,]+/)
      .filter((word) => word !== '');
    if (blocks.length + words.length === 0) throw new Error('it is empty');
    return { ok: true, keys: [...blocks.map(publicHalf), ...words.map(hexKey)] };
  } catch {
    return refuse(
      'SourceInvalid',
      `key "${secret.key}" of Secret "${secret.name}" must hold Ed25519 keys in hex or PEM, and nothing else`,
    );
  }
}

function publicHalf(pem: string): string {
  return hexOf(pem.includes('PRIVATE') ? createPublicKey(createPrivateKey(pem)) : createPublicKey(pem));
}

function hexKey(word: string): string {
  const hex = word.toLowerCase();
  if (!HEX_KEY.test(hex)) throw new Error('it is not a key');
  return hex;
}

function hexOf(key: KeyObject): string {
  const { crv, x } = key.export({ format: 'jwk' });
  if (crv !== 'Ed25519' || x === undefined) throw new Error('it is not an Ed25519 key');
  return Buffer.from(x, 'base64url').toString('hex');
}
