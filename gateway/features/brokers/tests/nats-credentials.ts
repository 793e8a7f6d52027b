/** NKeys and JWTs for a nats-server of a test's own, as `nsc` would make them. */
import { nkeys } from '@nats-io/nats-core/internal';

export interface JwtServer {
  /** For the server's config. */
  readonly config: string;
  /** What a user's `.creds` file holds. */
  readonly creds: string;
}

/** A server that knows one account by its JWT, and a user of it. */
export function jwtServer(): JwtServer {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const limits = { subs: -1, conn: -1, leaf: -1, imports: -1, exports: -1, data: -1, payload: -1, wildcards: true };
  const jetstream = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const operatorJwt = jwt(operator, operator, { type: 'operator', version: 2 });
  const accountJwt = jwt(operator, account, { type: 'account', version: 2, limits: { ...limits, ...jetstream } });
  const userJwt = jwt(account, user, { type: 'user', version: 2, subs: -1, data: -1, payload: -1, pub: {}, sub: {} });
  const seed = new TextDecoder().decode(user.getSeed());
  return {
    config: `operator: ${operatorJwt}\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: ${accountJwt} }\n`,
    creds: `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  };
}

function jwt(issuer: nkeys.KeyPair, subject: nkeys.KeyPair, nats: object): string {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    jti: crypto.randomUUID(),
    iat: 1_700_000_000,
    iss: issuer.getPublicKey(),
    name: 'test',
    sub: subject.getPublicKey(),
    nats,
  };
  const text = `${encoded({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encoded(claims)}`;
  const signature = issuer.sign(new TextEncoder().encode(text));
  return `${text}.${Buffer.from(signature).toString('base64url')}`;
}
