/** Caches that several clients fill: one client that fills them takes nothing from another (docs/shared-limits.md). */
import { describe, expect, it } from 'vitest';
import { PasswordTable } from '../../features/auth/host/passwords/password-table.ts';
import { readExchangeRules } from '../../features/auth/host/token-exchange/exchange-rules.ts';
import { TokenExchanger } from '../../features/auth/host/token-exchange/token-exchanger.ts';
import { TokenClaims } from '../../features/auth/host/tokens/token-claims.ts';
import { VerifiedTokens } from '../../features/auth/host/tokens/verified-tokens.ts';
import { Flights } from '../../features/cache/host/flights.ts';
import { GraphQLChecker, type Verdict } from '../../features/graphql/host/graphql-checker.ts';
import { recordedExchange } from '../../sdk/testing/recorder.ts';
import type { HttpCaller } from '../egress/http-client.ts';
import { Checks } from './checks.ts';
import { FairQueue } from './fair-queue.ts';
import { SharedMap } from './shared-map.ts';

const [VICTIM, FLOOD] = ['192.0.2.1', '192.0.2.9'];
const VERDICT = { claims: new TokenClaims({}), validity: { from: 0, until: Number.POSITIVE_INFINITY } };

describe('what one client has brought stays, however much another one brings, among', () => {
  it('tokens that were verified', () => {
    const tokens = new VerifiedTokens();
    tokens.set('mine', VERDICT, 1_000, [VICTIM]);
    for (let i = 0; i < 20_000; i++) tokens.set(`flood ${i}`, VERDICT, 1_000, [FLOOD]);
    expect([tokens.get('flood 0'), tokens.get('mine')]).toEqual([undefined, VERDICT]);
  });

  it('results of password checks', async () => {
    let checks = 0;
    const hash = {
      slow: true,
      matches: async (password: string) => {
        checks++;
        return password === 'right';
      },
    };
    const table = new PasswordTable([{ name: 'alice', hash }]);
    await table.verify('alice', 'right', [VICTIM]);
    for (let i = 0; i < 10_500; i++) await table.verify(`invented ${i}`, 'wrong', [FLOOD]);
    checks = 0;
    expect(table.verify('alice', 'right', [VICTIM])).toBe(0);
    expect(checks).toBe(0);
  });

  it('credentials that held before, which wait in turns of their own', async () => {
    const lanes: string[] = [];
    const queue = new FairQueue({ atOnce: 1, mostWaiting: 10, mostMs: 1_000 });
    const run = queue.run.bind(queue);
    queue.run = (owner, work) => {
      lanes.push(owner.at(-2) ?? '');
      return run(owner, work);
    };
    const checks = new Checks<boolean>(queue, (holds) => holds);
    const check = (name: string, owner: string) =>
      checks.run({ key: name, name, owner: [owner], run: () => Promise.resolve(true) });
    await check('mine', VICTIM);
    for (let i = 0; i < 10_500; i++) await check(`flood ${i}`, FLOOD);
    await check('mine', VICTIM);
    expect([lanes[0], lanes.at(-1)]).toEqual(['unproven', 'proven']);
  });

  it('tokens that were exchanged', async () => {
    let exchanges = 0;
    const answer = {
      access_token: 'i'.repeat(4_000),
      token_type: 'Bearer',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      expires_in: 3_600,
    };
    const never = () => Promise.reject(new Error('nobody asks for it'));
    const client: HttpCaller = {
      open: never,
      upgrade: never,
      call: async () => {
        exchanges++;
        return { status: 200, headers: [], body: Buffer.from(JSON.stringify(answer)) };
      },
    };
    const config = { token_endpoint: 'https://login.example/token', audience: 'api', client_id: 'gateway' };
    const given = { ...config, client_authentication: 'none', cache_ttl_seconds: 3_600, timeout: 5 };
    const rules = readExchangeRules(JSON.stringify(given), {});
    const exchanger = new TokenExchanger(rules, client, () => {});
    const exchange = async (token: string, clientIp: string) =>
      exchanger.exchange(token, recordedExchange({ clientIp }));
    await exchange('mine', VICTIM);
    for (let i = 0; i < 2_500; i++) await exchange(`flood-${i}`, FLOOD);
    exchanges = 0;
    await exchange('mine', VICTIM);
    expect(exchanges).toBe(0);
    await exchange('flood-0', FLOOD);
    expect(exchanges).toBe(1);
  });

  it('requests whose responses are known not to be storable', () => {
    const flights = new Flights(() => 0);
    flights.begin('mine', [VICTIM]).land('unstorable');
    for (let i = 0; i < 10_500; i++) flights.begin(`flood ${i}`, [FLOOD]).land('unstorable');
    expect([flights.mayStore('flood 0'), flights.mayStore('mine')]).toEqual([true, false]);
  });

  it('verdicts on GraphQL documents', () => {
    const most = { max_depth: 5, max_fields: 9, max_breadth: 9, max_root_fields: 9, max_aliases: 9, max_directives: 9 };
    const sizes = { max_tokens: 100, max_document_bytes: 1_000, max_body_bytes: 1_000, max_batch: 0 };
    const config = { operations: ['query'], introspection: false, ...most, ...sizes };
    const checker = new GraphQLChecker(config, new SharedMap<Verdict>({ most: 100_000 }));
    const read = (query: string, clientIp: string) => {
      const body = Buffer.from(JSON.stringify({ query }));
      const headers = { 'content-type': 'application/json' };
      const exchange = recordedExchange({ method: 'POST', headers, body: body.toString(), clientIp });
      exchange.body = body;
      let characters = 0;
      checker.check(exchange, (more) => {
        characters += more;
      });
      return characters;
    };
    read('{ mine }', VICTIM);
    for (let i = 0; i < 1_000; i++) read(`{ flood${i} }`, FLOOD);
    expect([read('{ mine }', VICTIM), read('{ flood0 }', FLOOD)]).toEqual([0, 10]);
  });
});
