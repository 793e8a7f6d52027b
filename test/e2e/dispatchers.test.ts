/**
 * Dispatchers and middlewares that speak with servers of their own, in pods: with credentials from Secrets, and for a
 * tenant who may reach them; another one, beside it, reaches nothing and learns nothing.
 */
import type { NatsConnection } from '@nats-io/nats-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../ai/chat-provider.ts';
import type { FakeProvider } from '../ai/fake-provider.ts';
import { eventually } from '../eventually.ts';
import { connect as connectNats } from '../serve/nats-client.ts';
import { startUpstream, type Upstream } from '../serve/upstream.ts';
import { type InstalledOperator, image, missing } from './installed-operator.ts';
import { execute } from './kubectl.ts';
import { reachable } from './reachable.ts';
import { type Relay, relayTo } from './relay.ts';
import { sharedOperator } from './shared-operator.ts';

const { NATS_URL = '' } = process.env;
const lacking = [...missing, ...(NATS_URL === '' ? ['NATS_URL'] : [])];
const skipped = lacking.length > 0 ? ` (skipped: ${lacking.join(' and ')} not set)` : '';
const LOG_TOKEN = 'Bearer log-token-0123456789';
/** Secrets that no object, event or log may show. */
const SECRETS = [CHAT_KEY, LOG_TOKEN];

interface Peers {
  readonly nats: Relay;
  readonly provider: Relay;
  readonly logs: Relay;
}

const at = ({ host, port }: Relay) => `${host}:${port}`;

const openApi = ({ nats, provider, logs }: Peers) => `openapi: 3.1.0
info: { title: Shop, version: '1' }
paths:
  /orders:
    post:
      requestBody: { required: true, content: { application/json: { schema: { type: object, required: [id] } } } }
      responses: { '202': { description: Accepted } }
      x-gw-dispatch: { name: subject-publish, config: { url: 'nats://${at(nats)}', subject: 'SUBJECT' } }
  /v1/chat/completions:
    post:
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { '200': { description: OK } }
      x-gw-middlewares:
        - { name: http-log, config: { url: 'http://${at(logs)}/ingest', headers: { authorization: 'env://LOG_TOKEN' }, batch: { max_delay: 0 } } }
      x-gw-dispatch: { name: ai-proxy, config: { provider: provider_chat, base_url: 'http://${at(provider)}', api_key: 'env://AI_KEY' } }
`;

const asyncApi = ({ nats }: Peers) => `asyncapi: 3.0.0
info: { title: Orders, version: '1' }
channels:
  orders: { address: stream, messages: { placed: { payload: { type: object } } } }
operations:
  onOrder:
    action: receive
    channel: { $ref: '#/channels/orders' }
    x-gw-dispatch: { name: subject-subscribe, config: { url: 'nats://${at(nats)}', subject: 'SUBJECT' } }
`;

/** Of one tenant: what is served, and which addresses it may reach besides public ones. */
function manifests(peers: Peers, subject: string, allow: readonly string[]): string {
  const spec = (name: string, inline: string) => ({
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'ApiSpec',
    metadata: { name },
    spec: { source: { inline: inline.replaceAll('SUBJECT', subject) } },
  });
  const project = {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GatewayProject',
    metadata: { name: 'shop' },
    spec: {
      specs: { names: ['shop', 'orders'] },
      plugins: ['http-log', 'subject-publish', 'subject-subscribe', 'ai-proxy'].map((name) => ({ name })),
      allowPlaintext: true,
      egress: { allow },
      secrets: { env: ['shop-env'] },
      pods: { replicas: 1, image, resources: { requests: { cpu: '20m', memory: '96Mi' } } },
      serve: { drainDelay: 1, shutdownTimeout: 5 },
    },
  };
  const items = [spec('shop', openApi(peers)), spec('orders', asyncApi(peers)), project];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

describe.skipIf(lacking.length > 0)(`dispatchers on a cluster${skipped}`, () => {
  let operator: InstalledOperator;
  let other: InstalledOperator;
  let logs: Upstream;
  let provider: FakeProvider;
  let nats: NatsConnection;
  let peers: Peers;
  const subject = `orders-${process.pid}`;

  const address = async ({ k }: InstalledOperator) => {
    const url = `http://${await k.field('service/shop-gateway', '{.spec.clusterIP}')}`;
    await reachable(url);
    return url;
  };
  const post = async (url: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, text: await answer.text() };
  };
  const serve = async ({ k }: InstalledOperator, allow: readonly string[], secret: object) => {
    const [metadata, stringData] = [{ name: 'shop-env' }, secret];
    await k.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
    await k.apply(manifests(peers, subject, allow));
    await k.condition('gatewayproject/shop', 'Ready', 'True', 180);
  };
  /** All that people are shown of a tenant. */
  const shown = async ({ k, system }: InstalledOperator) => {
    const objects = await k('get', 'apispecs,gatewayprojects,deployments,configmaps,events', '-o', 'yaml');
    const pods = await k('logs', '-l', 'gw.dev/project=shop', '--tail=-1');
    const operators = await execute('kubectl', ['-n', system, 'logs', '-l', 'app.kubernetes.io/name=gw-operator']);
    return objects + pods + operators;
  };

  beforeAll(async () => {
    [operator, other] = await Promise.all([sharedOperator('peers'), sharedOperator('others')]);
    [logs, provider] = await Promise.all([startUpstream((_, response) => response.end()), startChatProvider()]);
    nats = await connectNats(NATS_URL);
    const relays = [NATS_URL, provider.url, logs.url].map((url) => relayTo(Number(new URL(url).port)));
    const [toNats, toProvider, toLogs] = await Promise.all(relays);
    if (!toNats || !toProvider || !toLogs) throw new Error('pods cannot reach servers of this machine');
    peers = { nats: toNats, provider: toProvider, logs: toLogs };
  });
  afterAll(async () => {
    await Promise.all([operator?.uninstall(), other?.uninstall()]);
    await nats?.close();
    await Promise.all([peers?.nats, peers?.provider, peers?.logs].map((relay) => relay?.close()));
    await Promise.all([logs?.close(), provider?.close()]);
  }, 240_000);

  it('publish, stream, ask a model and log, with credentials that nobody is shown', async () => {
    await serve(operator, [peers.nats.host], { LOG_TOKEN, AI_KEY: CHAT_KEY });
    const url = await address(operator);
    const stream = await fetch(`${url}/stream`);
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect((await post(`${url}/orders`, { id: 7 })).status).toBe(202);
    expect((await post(`${url}/orders`, { no: 'id' })).status).toBe(400);
    let events = '';
    for await (const piece of stream.body ?? []) {
      events += Buffer.from(piece).toString();
      if (events.includes('"id":7')) break;
    }
    const asked = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] };
    const answered = await post(`${url}/v1/chat/completions`, asked);
    expect(answered).toMatchObject({ status: 200, text: expect.stringContaining('chat.completion') });
    expect(provider.seen.at(-1)?.headers.authorization).toBe(`Bearer ${CHAT_KEY}`);
    const entries = () => logs.seen.flatMap(({ body }) => JSON.parse(body) as { path: string }[]);
    await eventually(() => expect(entries().map(({ path }) => path)).toContain('/v1/chat/completions'));
    expect(new Set(logs.seen.map(({ headers }) => headers.authorization))).toEqual(new Set([LOG_TOKEN]));
    const text = await shown(operator);
    expect(text).toContain('shop-gateway');
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  });

  it('reach nothing inside for a tenant who may not, and say so without its credentials', async () => {
    const before = [provider.seen.length, logs.seen.length];
    const heard: string[] = [];
    nats.subscribe(subject, { callback: (_, message) => void heard.push(message.string()) });
    await serve(other, [], { LOG_TOKEN, AI_KEY: CHAT_KEY });
    const url = await address(other);
    expect((await post(`${url}/orders`, { id: 8 })).status).toBe(502);
    expect((await fetch(`${url}/stream`)).status).toBe(502);
    const asked = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] };
    expect((await post(`${url}/v1/chat/completions`, asked)).status).toBe(502);
    const pods = () => other.k('logs', '-l', 'gw.dev/project=shop', '--tail=-1');
    await eventually(async () => expect(await pods()).toContain('"plugin":"http-log"'));
    expect([provider.seen.length, logs.seen.length, heard]).toEqual([...before, []]);
    const text = await shown(other);
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  });

  it('have no Secret of another tenant', async () => {
    await other.k('delete', 'secret', 'shop-env');
    const names = [`${operator.namespace}/shop-env`, 'shop-env'];
    const patched = (name: string) => JSON.stringify({ spec: { secrets: { env: [name] } } });
    await expect(
      other.k('patch', 'gatewayproject', 'shop', '--type=merge', '-p', patched(String(names[0]))),
    ).rejects.toThrow(/Invalid|invalid/);
    await other.k('patch', 'gatewayproject', 'shop', '--type=merge', '-p', patched('shop-env'));
    await other.k('annotate', 'gatewayproject', 'shop', 'example.org/looked-at=now');
    const message = '{.status.conditions[?(@.type=="Accepted")].message}';
    await eventually(async () =>
      expect(await other.k.field('gatewayproject/shop', message)).toContain('Secret "shop-env" is not in'),
    );
    // What it has served, it serves on.
    expect((await post(`${await address(other)}/orders`, { no: 'id' })).status).toBe(400);
  });
});
