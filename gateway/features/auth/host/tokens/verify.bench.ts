/**
 * Measures the cost of a token, in microseconds: `node gateway/features/auth/host/tokens/verify.bench.ts` after `npm run
 * plugins`. A call of the plugin is measured whole, as in wasm/call.bench.ts; each figure is the best of several
 * rounds.
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { join } from 'node:path';
import { readPluginFolder } from '../../../../sdk/testing/plugin-folder.ts';
import { recordedExchange } from '../../../../sdk/testing/recorder.ts';
import { createPluginRuntime } from '../../../../src/wasm/index.ts';
import { standaloneCapabilities } from '../../../standalone.ts';

const ROUNDS = 7;
const standalone = await standaloneCapabilities();
const runtime = createPluginRuntime({
  capabilities: standalone.capabilities,
  openUpstream: (url) => ({ name: url }),
  log: (level, plugin, message) => process.stderr.write(`${level} ${plugin}: ${message}\n`),
  observe: () => () => {},
});
const { plugin, wasm, complete } = await readPluginFolder(join(import.meta.dirname, '../../plugins/jwt-auth'));
const module = await runtime.load(plugin, wasm);

function token(alg: string, key: KeyObject, id: number): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: 'https://issuer.example', sub: 'alice', aud: 'urn:books', iat: now, exp: now + 3_600 };
  const more = { scope: 'read write', client_id: 'shop', jti: `00000000-0000-4000-8000-${id}`, groups: ['staff'] };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg, typ: 'at+jwt', kid: 'a' })}.${part({ ...claims, ...more })}`;
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

async function measure(alg: string, pair: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }) {
  const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid: 'a', alg, use: 'sig' };
  const config = { jwks: { keys: [JSON.parse(JSON.stringify(jwk))] }, audience: 'urn:books', groups_claim: 'groups' };
  const bound = await module.bind(complete(config));
  const run = async (tokens: readonly string[], calls: number) => {
    const started = process.cpuUsage();
    const startedAt = performance.now();
    for (let i = 0; i < calls; i++) {
      const exchange = recordedExchange({ headers: { authorization: `Bearer ${tokens[i % tokens.length]}` } });
      if ((await bound.onRequest(exchange)) !== 0) throw new Error('refused');
    }
    const { user, system } = process.cpuUsage(started);
    return { wall: ((performance.now() - startedAt) * 1000) / calls, cpu: (user + system) / calls };
  };
  let cached = { wall: Number.POSITIVE_INFINITY, cpu: 0 };
  let fresh = { wall: Number.POSITIVE_INFINITY, cpu: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const tokens = Array.from({ length: 500 }, (_, i) => token(alg, pair.privateKey, round * 500 + i + 1_000_000));
    const first = await run(tokens, tokens.length);
    if (first.wall < fresh.wall) fresh = first;
    const again = await run(tokens.slice(0, 50), 20_000);
    if (again.wall < cached.wall) cached = again;
  }
  bound.close();
  const shown = ({ wall, cpu }: typeof cached) => `${wall.toFixed(1).padStart(7)} µs (CPU ${cpu.toFixed(1)})`;
  process.stdout.write(`${alg}  seen before ${shown(cached)}   first seen ${shown(fresh)}\n`);
}

await measure('RS256', generateKeyPairSync('rsa', { modulusLength: 2048 }));
await measure('ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' }));
runtime.close();
standalone.close();
