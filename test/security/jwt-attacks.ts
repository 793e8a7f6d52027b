/**
 * Attacks on bearers of JSON Web Tokens, after RFC 8725 (sections 2 and 3) and what has been found in the field since:
 * each makes a token that a gateway with these keys, issuer and audience must refuse.
 */
import { createHmac, sign } from 'node:crypto';
import { base64url, goodClaims, jwkOf, newKey, type SigningKey, signatureOf, signToken } from '../serve/issuer.ts';

export interface Target {
  readonly issuer: string;
  readonly rsa: SigningKey;
  readonly ec: SigningKey;
  /** Where an attacker would have the gateway fetch keys from. */
  readonly trap: string;
}

type Attack = readonly [section: string, what: string, token: (target: Target) => string];

const claimsOf = ({ issuer }: Target, more: object = {}) => goodClaims(issuer, more);
const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;

/** Signed by the right key, with whatever header and claims. */
const signed =
  (header: object | string, claims: object | ((target: Target) => object | string) = {}) =>
  (target: Target) =>
    signToken(target.rsa, typeof claims === 'function' ? claims(target) : claimsOf(target, claims), header);

/** Any three parts. */
const parts = (header: object | string, claims: object | string, signature: string) =>
  `${base64url(header)}.${base64url(claims)}.${signature}`;

const hmac = (alg: 'HS256' | 'HS384' | 'HS512', secret: (target: Target) => string) => (target: Target) => {
  const input = `${base64url({ alg, typ: 'JWT', kid: target.rsa.kid })}.${base64url(claimsOf(target))}`;
  return `${input}.${createHmac(`sha${alg.slice(2)}`, secret(target))
    .update(input)
    .digest('base64url')}`;
};
const pem = ({ rsa }: Target) => rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();

const unsigned = (alg: unknown) => (target: Target) => parts({ alg, typ: 'JWT' }, claimsOf(target), '');

const foreign = newKey('RS256', 'foreign');
/** Signed by the attacker's own key, which the header offers. */
const offering = (header: (target: Target) => object) => (target: Target) =>
  signToken(foreign, claimsOf(target), { alg: 'RS256', ...header(target) });

/** The good token, with its parts changed. */
const changed = (change: (parts: [string, string, string], target: Target) => string) => (target: Target) => {
  const [head = '', payload = '', signature = ''] = signToken(target.rsa, claimsOf(target)).split('.');
  return change([head, payload, signature], target);
};
const changedEc = (change: (input: string, signature: Buffer, target: Target) => string) => (target: Target) => {
  const token = signToken(target.ec, claimsOf(target));
  const end = token.lastIndexOf('.');
  return change(token.slice(0, end), Buffer.from(token.slice(end + 1), 'base64url'), target);
};

/** Another last character, which differs in bits that mean nothing only. */
function withSpareBits(part: string): string {
  const bytes = Buffer.from(part, 'base64url');
  const others = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map(
    (c) => part.slice(0, -1) + c,
  );
  const same = others.find((other) => other !== part && Buffer.from(other, 'base64url').equals(bytes));
  if (same === undefined) throw new Error('the part has no spare bits');
  return same;
}

export const ATTACKS: readonly Attack[] = [
  ['3.1', 'another text of the same signature', changed(([a, b, c]) => `${a}.${b}.${withSpareBits(c)}`)],
  ['3.1', 'alg none', unsigned('none')],
  ['3.1', 'alg None', unsigned('None')],
  ['3.1', 'alg nOnE', unsigned('nOnE')],
  ['3.1', 'alg of spaces', unsigned(' none ')],
  ['3.1', 'no alg', unsigned(undefined)],
  ['3.1', 'alg null', unsigned(null)],
  ['3.1', 'alg as a list', unsigned(['RS256'])],
  ['3.1', 'RS256 without a signature', unsigned('RS256')],
  ['3.1', 'none with the signature of RS256', changed(([, p, s]) => `${base64url({ alg: 'none' })}.${p}.${s}`)],
  ['3.1', 'HS256 with the public key as its secret', hmac('HS256', pem)],
  ['3.1', 'HS256 with the public key, without the last newline', hmac('HS256', (target) => pem(target).trimEnd())],
  ['3.1', 'HS384 with the public key as its secret', hmac('HS384', pem)],
  ['3.1', 'HS512 with the key of the key set as its secret', hmac('HS512', ({ rsa }) => JSON.stringify(jwkOf(rsa)))],
  ['3.1', 'HS256 with the modulus as its secret', hmac('HS256', ({ rsa }) => String(jwkOf(rsa)['n']))],
  ['3.1', 'HS256 with an empty secret', hmac('HS256', () => '')],
  ['3.1', 'HS256 with a guessable secret (2.2)', hmac('HS256', () => 'secret')],
  ['3.1', 'PS256, which is not on the list', signed({ alg: 'PS256' })],
  ['3.1', 'EdDSA, which is not on the list', signed({ alg: 'EdDSA' })],
  ['3.1', 'an algorithm that there is not', signed({ alg: 'RS257' })],
  ['3.1', 'the algorithm of another type of key', signed({ alg: 'ES256' })],
  ['3.1', 'the algorithm of another curve', ({ ec, issuer }) => signToken(ec, goodClaims(issuer), { alg: 'ES384' })],
  [
    '3.1',
    'another algorithm than the key is for',
    (target) => signToken({ ...target.rsa, alg: 'RS512' }, claimsOf(target)),
  ],
  [
    '3.1',
    'a key of another type by its name',
    ({ ec, rsa, issuer }) => signToken(ec, goodClaims(issuer), { kid: rsa.kid }),
  ],
  ['3.2', 'signed with a key of nobody', offering(() => ({}))],
  ['3.2', 'signed with another key under a known name', offering(({ rsa }) => ({ kid: rsa.kid }))],
  ['3.3', 'a signature of nothing', changed(([h, p]) => `${h}.${p}.AA`)],
  ['3.3', 'a signature that is cut', changed(([h, p, s]) => `${h}.${p}.${s.slice(0, -4)}`)],
  ['3.3', 'a signature with more behind it', changed(([h, p, s]) => `${h}.${p}.${s}AAAA`)],
  [
    '3.3',
    'other claims under the signature',
    changed(([h, , s], t) => `${h}.${base64url(claimsOf(t, { sub: 'admin' }))}.${s}`),
  ],
  ['3.3', 'another header over the signature', changed(([, p, s]) => `${base64url({ alg: 'RS256' })}.${p}.${s}`)],
  ['3.3', 'an ECDSA signature of zeros', changedEc((input) => `${input}.${base64url(new Uint8Array(64))}`)],
  [
    '3.3',
    'an ECDSA signature of the order',
    changedEc((input) => `${input}.${base64url(new Uint8Array(64).fill(255))}`),
  ],
  [
    '3.3',
    'an ECDSA signature in DER',
    changedEc((input, _s, { ec }) => `${input}.${base64url(sign('sha256', Buffer.from(input), ec.privateKey))}`),
  ],
  [
    '3.3',
    'half an ECDSA signature',
    changedEc((input, signature) => `${input}.${base64url(signature.subarray(0, 32))}`),
  ],
  [
    '3.4',
    'a point that is not on the curve, offered',
    offering(() => ({ jwk: { kty: 'EC', crv: 'P-256', x: 'AQ', y: 'AQ' } })),
  ],
  ['3.6', 'compressed claims', signed({ zip: 'DEF' })],
  [
    '3.7',
    'claims that are not UTF-8',
    ({ rsa }) => {
      const input = `${base64url({ alg: 'RS256', kid: rsa.kid })}.${base64url(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]))}`;
      return `${input}.${signatureOf(input, rsa)}`;
    },
  ],
  [
    '3.7',
    'claims in UTF-16',
    ({ rsa, issuer }) => {
      const input = `${base64url({ alg: 'RS256', kid: rsa.kid })}.${base64url(Buffer.from(JSON.stringify(goodClaims(issuer)), 'utf16le'))}`;
      return `${input}.${signatureOf(input, rsa)}`;
    },
  ],
  ['3.8', 'another issuer', signed({}, { iss: 'https://evil.example' })],
  ['3.8', 'no issuer', signed({}, { iss: undefined })],
  [
    '3.8',
    'the issuer with more behind it',
    signed({}, (target) => claimsOf(target, { iss: `${target.issuer}.evil.example` })),
  ],
  ['3.8', 'the issuer with a slash', signed({}, (target) => claimsOf(target, { iss: `${target.issuer}/` }))],
  ['3.8', 'issuers in a list', signed({}, (target) => claimsOf(target, { iss: [target.issuer] }))],
  ['3.9', 'another audience', signed({}, { aud: 'urn:films' })],
  ['3.9', 'no audience', signed({}, { aud: undefined })],
  ['3.9', 'a part of the audience', signed({}, { aud: 'urn:book' })],
  ['3.9', 'the audience with more behind it', signed({}, { aud: 'urn:books urn:films' })],
  ['3.9', 'the audience within an object', signed({}, { aud: { 'urn:books': true } })],
  ['3.9', 'the audience in a list in a list', signed({}, { aud: [['urn:books']] })],
  ['3.10', 'a key in the header (jwk)', offering(() => ({ jwk: jwkOf(foreign), kid: foreign.kid }))],
  ['3.10', 'a key set by URL (jku)', offering(({ trap }) => ({ jku: `${trap}/jwks`, kid: foreign.kid }))],
  ['3.10', 'a certificate by URL (x5u)', offering(({ trap }) => ({ x5u: `${trap}/cert`, kid: foreign.kid }))],
  ['3.10', 'a certificate in the header (x5c)', offering(() => ({ x5c: ['MIIB'], kid: foreign.kid }))],
  ['3.10', 'a path as kid', offering(() => ({ kid: '../../../../dev/null' }))],
  ['3.10', 'SQL as kid', offering(() => ({ kid: "x' UNION SELECT 'key" }))],
  ['3.10', 'a command as kid', offering(() => ({ kid: '|/usr/bin/id' }))],
  ['3.10', 'a URL as kid', offering(({ trap }) => ({ kid: `${trap}/key` }))],
  ['3.10', '__proto__ as kid', offering(() => ({ kid: '__proto__' }))],
  ['3.10', 'an object as kid', offering(() => ({ kid: { length: 1 } }))],
  ['3.10', 'a kid of 2,000 characters', offering(() => ({ kid: 'k'.repeat(2_000) }))],
  ['3.11', 'a logout token', signed({ typ: 'logout+jwt' })],
  ['3.11', 'a security event', signed({ typ: 'secevent+jwt' })],
  ['3.11', 'a proof of possession', signed({ typ: 'dpop+jwt' })],
  ['3.11', 'a type that is no text', signed({ typ: ['JWT'] })],
  ['2.4', 'an encrypted token in five parts', changed(([h, p, s]) => `${h}.${p}.${s}.${p}.${s}`)],
  ['2.4', 'a header that says it is encrypted', signed({ enc: 'A256GCM' })],
  [
    '2.8',
    'a token as the claims of another',
    signed({ cty: 'JWT' }, (target) => signToken(target.rsa, claimsOf(target))),
  ],
  ['7515, 4.1.11', 'a critical extension', signed({ crit: ['exp'], exp: 1 })],
  ['7515, 4.1.11', 'an empty list of critical extensions', signed({ crit: [] })],
  ['7797', 'claims that are not encoded (b64)', signed({ b64: false, crit: ['b64'] })],
  ['7515, 4', 'two algorithms', signed('{"alg":"none","alg":"RS256","kid":"rsa"}')],
  ['7515, 4', 'two algorithms, one with escapes', signed('{"alg":"RS256","\\u0061lg":"RS256","kid":"rsa"}')],
  ['7519, 4', 'two subjects', signed({}, (target) => JSON.stringify(claimsOf(target)).replace('{', '{"sub":"admin",'))],
  [
    '7519, 4',
    'two issuers',
    signed({}, (target) => JSON.stringify(claimsOf(target)).replace('{', '{"iss":"https://evil.example",')),
  ],
  [
    '7519, 4',
    'a member twice further in',
    signed({}, (target) => JSON.stringify(claimsOf(target)).replace('{', '{"realm":{"roles":[],"roles":["admin"]},')),
  ],
  ['7519, 7.2', 'claims in a list', signed({}, (target) => JSON.stringify([claimsOf(target)]))],
  ['7519, 7.2', 'a text as claims', signed({}, () => '"alice"')],
  ['7519, 7.2', 'null as claims', signed({}, () => 'null')],
  ['7519, 7.2', 'claims that are no JSON', signed({}, () => '{"sub": alice}')],
  ['7519, 7.2', 'claims nested 1,000 times', signed({}, () => `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`)],
  ['7519, 7.2', 'a header that is no JSON', changed(([, p, s]) => `${base64url('alg=RS256')}.${p}.${s}`)],
  ['7519, 7.2', 'a header in a list', changed(([, p, s]) => `${base64url([{ alg: 'RS256' }])}.${p}.${s}`)],
  ['7519, 4.1.2', 'null as its subject', signed({}, { sub: null })],
  ['7519, 4.1.2', 'a number as its subject', signed({}, { sub: 42 })],
  ['7519, 4.1.2', 'subjects in a list', signed({}, { sub: ['alice'] })],
  ['7519, 4.1.4', 'expired', signed({}, () => ({ ...goodClaims(''), exp: seconds(-61) }))],
  ['7519, 4.1.4', 'no expiry', signed({}, { exp: undefined })],
  ['7519, 4.1.4', 'an expiry in text', signed({}, { exp: String(seconds(300)) })],
  [
    '7519, 4.1.4',
    'an expiry without end',
    signed({}, (target) => JSON.stringify(claimsOf(target)).replace(/"exp":\d+/, '"exp":1e999')),
  ],
  ['7519, 4.1.4', 'an expiry of null', signed({}, { exp: null })],
  ['7519, 4.1.5', 'not yet valid', signed({}, { nbf: seconds(120) })],
  ['7519, 4.1.5', 'a beginning in text', signed({}, { nbf: 'now' })],
  ['7519, 4.1.6', 'issued in the future', signed({}, { iat: seconds(3_600) })],
  ['7515, 2', 'padding', changed(([h, p, s]) => `${h}.${p}.${s}=`)],
  ['7515, 2', 'the alphabet of plain base64', changed(([h, p, s]) => `${h}.${p}.+/${s.slice(2)}`)],
  ['7515, 2', 'a space within', changed(([h, p, s]) => `${h}. ${p}.${s}`)],
  [
    '7515, 7.2',
    'the JSON serialisation',
    changed(([h, p, s]) => JSON.stringify({ protected: h, payload: p, signature: s })),
  ],
  ['7515, 7.1', 'two parts', changed(([h, p]) => `${h}.${p}`)],
  ['7515, 7.1', 'no header', changed(([, p, s]) => `.${p}.${s}`)],
  ['7515, 7.1', 'dots alone', () => '..'],
  ['6750, 2.1', 'two tokens', changed(([h, p, s]) => `${h}.${p}.${s}, ${h}.${p}.${s}`)],
  ['size', 'a token of 17,000 characters', signed({}, { more: 'x'.repeat(12_500) })],
];
