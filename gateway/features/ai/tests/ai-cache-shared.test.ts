/** One store of answers for the workers of a gateway, and for the pods of a project (`--state`). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../../test/free-port.ts';
import { type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import {
  aiArtifact,
  ask,
  auth,
  type CachedProviders,
  cached,
  ENV,
  onChat,
  operation,
  post,
  startProviders,
} from './ai-cached-project.ts';

const { REDIS_URL } = process.env;
const PATH = '/v1/chat/completions';
const HIT = expect.stringMatching(/^gw;hit;ttl=\d+$/);

let providers: CachedProviders;
let artifact: Uint8Array;
const gateways: Gateway[] = [];
beforeAll(async () => {
  providers = await startProviders();
  artifact = await aiArtifact({ [PATH]: operation(onChat(providers), [auth, cached()]) });
});
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
});
afterAll(() => providers.close());

async function start(...args: string[]): Promise<Gateway> {
  const gw = await startGateway(artifact, { args, env: ENV });
  gateways.push(gw);
  return gw;
}

const question = (stream: boolean) => ask(`What is ${crypto.randomUUID()}? Größe 👋`, { stream });

describe('the workers of a gateway', () => {
  it.each([false, true])('share what is stored: stream %s', async (stream) => {
    const gw = await start('--workers', '2');
    const body = question(stream);
    const first = await post(gw, PATH, body);
    const rest = await Promise.all(Array.from({ length: 8 }, () => post(gw, PATH, body)));
    expect(rest.map(({ text }) => text)).toEqual(rest.map(() => first.text));
    expect(rest.map(({ says }) => says)).toEqual(rest.map(() => HIT));
  });
});

describe.skipIf(REDIS_URL === undefined)('pods with --state (needs REDIS_URL)', () => {
  const shared = ['--state', REDIS_URL ?? '', '--state-timeout-ms', '10000'];

  it.each([false, true])('share what is stored: stream %s', async (stream) => {
    const prefix = ['--state-prefix', crypto.randomUUID()];
    const [one, two] = await Promise.all([start(...shared, ...prefix), start(...shared, ...prefix)]);
    const body = question(stream);
    const first = await post(one, PATH, body);
    expect(await post(two, PATH, body)).toMatchObject({ status: 200, says: HIT, text: first.text });
    expect(await post(two, PATH, body, { key: ENV.BOB_KEY })).toMatchObject({
      says: `gw;fwd=miss;${stream ? 'detail=stored-if-whole' : 'stored'}`,
    });
  });
});

it('a state that is away leaves every request to the provider', async () => {
  const gw = await start('--state', `redis://127.0.0.1:${await freePort()}`);
  const body = question(false);
  for (let i = 0; i < 3; i++) {
    expect(await post(gw, PATH, body)).toMatchObject({ status: 200, says: 'gw;fwd=bypass;detail=state-unavailable' });
  }
});
