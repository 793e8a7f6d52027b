import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { expect, it } from 'vitest';
import { ConnectionRefused } from '../publishing/kept-connection.ts';
import { ConnectionLost } from './kafka-error.ts';
import { type Api, type Requester, SASL_AUTHENTICATE } from './protocol.ts';
import { authenticate } from './sasl.ts';

const SASL = { mechanism: 'scram-sha-256', username: 'a=b,c,d', password: 'secret' } as const;
const SALT = Buffer.from('salt').toString('base64');

interface Broker {
  readonly password: string;
  readonly iterations: number;
}

/** A broker that speaks SCRAM (RFC 5802), and expects the client to know the password. */
class ScramBroker implements Requester {
  readonly #broker: Broker;
  readonly #said: string[] = [];

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  async request<Request, Answer>(api: Api<Request, Answer>, request: Request): Promise<Answer> {
    const isExchange = api.key === SASL_AUTHENTICATE.key;
    const answer: unknown = isExchange
      ? { bytes: Buffer.from(this.#answer(String(request))), lifetimeMs: 7 }
      : undefined;
    return answer as Answer;
  }

  #answer(message: string): string {
    const { password, iterations } = this.#broker;
    if (this.#said.length === 0) {
      const first = message.slice('n,,'.length);
      expect(first).toMatch(/^n=a=3Db=2Cc=2Cd,r=/);
      this.#said.push(first, `r=${first.split('r=')[1]}more,s=${SALT},i=${iterations}`);
      return this.#said[1] ?? '';
    }
    const [final = '', proof = ''] = message.split(',p=');
    const signed = [...this.#said, final].join();
    const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
    const salted = pbkdf2Sync(password, 'salt', iterations, 32, 'sha256');
    const signature = hmac(createHash('sha256').update(hmac(salted, 'Client Key')).digest(), signed);
    const clientKey = Buffer.from(proof, 'base64').map((byte, i) => byte ^ (signature[i] ?? 0));
    if (password === SASL.password) expect(Buffer.from(clientKey)).toEqual(hmac(salted, 'Client Key'));
    return `v=${hmac(hmac(salted, 'Server Key'), signed).toString('base64')}`;
  }
}

it('proves by SCRAM that it knows the password, and says for how long it may', async () => {
  expect(await authenticate(new ScramBroker({ password: 'secret', iterations: 4_096 }), SASL)).toBe(7);
});

it.each([
  ['does not know the password', { password: 'other', iterations: 4_096 }],
  ['wants too few iterations', { password: 'secret', iterations: 4_095 }],
  ['wants iterations without end', { password: 'secret', iterations: 2 ** 31 - 1 }],
])('refuses a broker that %s', async (_, broker) => {
  await expect(authenticate(new ScramBroker(broker), SASL)).rejects.toThrow(ConnectionRefused);
});

it('may be tried again if the connection is lost meanwhile', async () => {
  const lost = { request: () => Promise.reject(new ConnectionLost('away')) };
  await expect(authenticate(lost, SASL)).rejects.toThrow(ConnectionLost);
});
