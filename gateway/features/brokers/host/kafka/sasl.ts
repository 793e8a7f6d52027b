/** Identifies the gateway to a broker: PLAIN (RFC 4616) and SCRAM (RFC 5802). */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ConnectionRefused } from '../publishing/kept-connection.ts';
import { ConnectionLost } from './kafka-error.ts';
import type { KafkaSasl } from './kafka-settings.ts';
import { type Requester, SASL_AUTHENTICATE, SASL_HANDSHAKE, type SaslAnswer } from './protocol.ts';

/** Iterations that the broker may ask for: fewer would give the password away, more would take a thread for long. */
const ITERATIONS = { least: 4_096, most: 1_000_000 };
/** No channel binding. */
const GS2_HEADER = 'n,,';

const derive = promisify(pbkdf2);

/**
 * Returns the milliseconds for which the broker accepts the credentials; 0: for as long as the connection lasts. Rejects
 * with ConnectionRefused if it does not, or with ConnectionLost.
 */
export async function authenticate(connection: Requester, sasl: KafkaSasl): Promise<number> {
  const { mechanism, username, password } = sasl;
  try {
    await connection.request(SASL_HANDSHAKE, mechanism.toUpperCase());
    const send = (message: string) => connection.request(SASL_AUTHENTICATE, Buffer.from(message));
    const { lifetimeMs } = await (mechanism === 'plain'
      ? send(`\0${username}\0${password}`)
      : scram(send, mechanism === 'scram-sha-256' ? 'sha256' : 'sha512', sasl));
    return lifetimeMs;
  } catch (error) {
    if (error instanceof ConnectionLost) throw error;
    throw new ConnectionRefused('the brokers reject the credentials', { cause: error });
  }
}

async function scram(
  send: (message: string) => Promise<SaslAnswer>,
  hash: 'sha256' | 'sha512',
  { username, password }: KafkaSasl,
): Promise<SaslAnswer> {
  const nonce = randomBytes(24).toString('base64url');
  const name = username.replaceAll('=', '=3D').replaceAll(',', '=2C');
  const first = `n=${name},r=${nonce}`;
  const challenge = (await send(`${GS2_HEADER}${first}`)).bytes.toString();
  const { r: joined = '', s: salt = '', i: count = '' } = attributesOf(challenge);
  const iterations = Number(count);
  if (!joined.startsWith(nonce) || !(iterations >= ITERATIONS.least && iterations <= ITERATIONS.most))
    throw new Error('the broker does not follow SCRAM');
  const hmac = (key: Buffer, text: string) => createHmac(hash, key).update(text).digest();
  const salted = await derive(password, Buffer.from(salt, 'base64'), iterations, hash === 'sha256' ? 32 : 64, hash);
  const clientKey = hmac(salted, 'Client Key');
  const final = `c=${Buffer.from(GS2_HEADER).toString('base64')},r=${joined}`;
  const signed = `${first},${challenge},${final}`;
  const signature = hmac(createHash(hash).update(clientKey).digest(), signed);
  const proof = clientKey.map((byte, i) => byte ^ (signature[i] ?? 0));
  const answer = await send(`${final},p=${Buffer.from(proof).toString('base64')}`);
  const shown = Buffer.from(attributesOf(answer.bytes.toString())['v'] ?? '', 'base64');
  const expected = hmac(hmac(salted, 'Server Key'), signed);
  if (shown.length !== expected.length || !timingSafeEqual(shown, expected))
    throw new Error('the broker does not know the password');
  return answer;
}

function attributesOf(message: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(message.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
}
