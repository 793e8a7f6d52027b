/** Upstreams with several addresses (docs/upstreams.md), as clients of `gw serve` see them. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UpstreamSettings } from '../../gateway/src/compiler/project/project.ts';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, jsonOf, refusedStart, startGateway } from './gateway.ts';

/** A server that answers with its name. */
class Peer {
  readonly name: string;
  readonly #server: Server;
  #port = 0;
  /** Answers that are due. */
  readonly held = new Set<ServerResponse>();
  hangs = false;
  served = 0;

  constructor(name: string) {
    this.name = name;
    this.#server = createServer((request, response) => {
      request.resume();
      this.held.add(response);
      response.on('close', () => this.held.delete(response));
      if (this.hangs) return;
      this.served++;
      // A moment under way, so that some requests are when it is killed.
      setTimeout(() => response.end(name), 5);
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Cuts all connections and refuses new ones. */
  kill(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

interface AdminPage {
  readonly upstreams: readonly {
    readonly name: string;
    readonly addresses: readonly {
      readonly url: string;
      readonly weight: number;
      readonly in_flight: number;
      readonly states: Readonly<Record<string, number>>;
    }[];
  }[];
}

const artifactOf = (books: UpstreamSettings, config: object = {}) => {
  const operation = {
    responses: {},
    'x-gw-dispatch': { name: 'http-upstream', config: { upstream: 'books', ...config } },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1' },
    paths: { '/books': { get: operation, post: operation } },
  };
  return compileSpec(document, ['http-upstream'], [], {}, { upstreams: { books } });
};

describe('an upstream with several addresses', () => {
  let dir = '';
  let file = '';
  let gw: Gateway | null = null;
  let peers: Peer[] = [];
  let loads: Load[] = [];

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-upstreams-'));
    file = join(dir, 'upstreams.yaml');
    peers = await Promise.all(['a', 'b', 'c'].map((name) => new Peer(name).listen()));
  });
  afterEach(async () => {
    await Promise.all(loads.map((each) => each.stop()));
    loads = [];
    for (const peer of peers) peer.kill();
    await gw?.stop();
    gw = null;
    rmSync(dir, { recursive: true, force: true });
  });

  const write = (text: string) => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const bind = (addresses: readonly (string | { readonly url: string; readonly weight: number })[]) =>
    write(JSON.stringify({ books: addresses.map((each) => (typeof each === 'string' ? { url: each } : each)) }));

  async function start(books: UpstreamSettings, config: object = {}, args: readonly string[] = []): Promise<string> {
    gw = await startGateway(await artifactOf(books, config), {
      args: ['--upstreams', file, '--trusted-proxies', '127.0.0.1', ...args],
    });
    return `${gw.url}/books`;
  }

  let client = 0;
  /** Each from a client of its own. */
  const ask = (url: string, init: RequestInit = {}) => {
    client = (client + 1) % 60_000;
    const address = `203.0.${client >> 8}.${client & 255}`;
    return fetch(url, { ...init, headers: { ...init.headers, 'x-forwarded-for': address } });
  };
  const answer = async (url: string, init?: RequestInit) => (await ask(url, init)).text();

  interface Load {
    readonly statuses: readonly number[];
    /** Statuses of requests without an answer of a server that began after this time, on the monotonic clock. */
    failedSince(time: number): readonly number[];
    /** Resolves with the statuses of all requests without an answer of a server. */
    stop(): Promise<readonly number[]>;
  }

  /** Asks all the time. */
  function load(url: string, concurrency = 8): Load {
    let stopped = false;
    const statuses: number[] = [];
    const failed: { readonly status: number; readonly begun: number }[] = [];
    const running = Array.from({ length: concurrency }, async () => {
      while (!stopped) {
        const begun = performance.now();
        const response = await ask(url);
        const { status } = response;
        statuses.push(status);
        if (status !== 200) failed.push({ status, begun });
        await response.text();
      }
    });
    const failedSince = (time: number) => failed.filter(({ begun }) => begun > time).map(({ status }) => status);
    const started: Load = {
      statuses,
      failedSince,
      async stop() {
        stopped = true;
        await Promise.all(running);
        return failedSince(0);
      },
    };
    loads.push(started);
    return started;
  }

  async function addresses() {
    const page = await jsonOf<AdminPage>(await fetch(`${gw?.admin}/upstreams`));
    return page.upstreams[0]?.addresses ?? [];
  }
  const metric = async (name: string) => {
    const text = await (await fetch(`${gw?.admin}/metrics`)).text();
    return text.split('\n').filter((line) => line.startsWith(name));
  };

  it('has shares by weight, within 2 % over 2,000 requests', async () => {
    const [a, b, c] = peers as [Peer, Peer, Peer];
    bind([
      { url: a.url, weight: 5 },
      { url: b.url, weight: 3 },
      { url: c.url, weight: 2 },
    ]);
    const url = await start({ balance: 'round-robin' });
    const counts: Record<string, number> = { a: 0, b: 0, c: 0 };
    const each = async () => {
      for (let i = 0; i < 200; i++) {
        const name = await answer(url);
        counts[name] = (counts[name] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 10 }, each));
    const off = [
      ['a', 0.5],
      ['b', 0.3],
      ['c', 0.2],
    ].map(([name, share]) => Math.abs((counts[name as string] ?? 0) / 2000 - (share as number)));
    expect(Math.max(...off)).toBeLessThan(0.02);
    expect((await addresses()).map(({ weight, states }) => [weight, states['healthy']])).toEqual([
      [5, 1],
      [3, 1],
      [2, 1],
    ]);
  });

  it('passes a killed one by: no request fails but those that were under way on it', async () => {
    bind(peers.map(({ url }) => url));
    const url = await start({ balance: 'round-robin' });
    const posts: Promise<Response>[] = [];
    const running = load(url);
    await eventually(() => expect(running.statuses.length).toBeGreaterThan(100));
    const [, killed] = peers as [Peer, Peer, Peer];
    await eventually(() => expect(killed.held.size).toBeGreaterThan(0));
    killed.kill();
    const killedAt = performance.now();
    // Their bodies have not been sent when there is no connection.
    for (let i = 0; i < 20; i++) posts.push(ask(url, { method: 'POST', body: 'a book' }));
    expect((await Promise.all(posts)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    const seen = running.statuses.length;
    await eventually(() => expect(running.statuses.length).toBeGreaterThan(seen + 300));
    const failed = await running.stop();
    expect([running.failedSince(killedAt), failed.filter((status) => status !== 502)]).toEqual([[], []]);
    expect((await addresses()).map(({ states }) => states['ejected'])).toEqual([0, 1, 0]);
    expect(await metric('gw_upstream_ejections_total')).toEqual(['gw_upstream_ejections_total{upstream="books"} 1']);
    expect((await metric('gw_')).join('\n')).not.toContain(killed.url.slice('http://'.length));
    const line = gw?.log.find(({ msg }) => msg.startsWith('an address of an upstream failed'));
    expect(line).toMatchObject({ level: 'warn', upstream: 'books', address: expect.stringMatching(/^http:/) });
  });

  it('takes a hanging one out, and back when it answers', async () => {
    bind(peers.map(({ url }) => url));
    const url = await start({ balance: 'round-robin', ejection: { failures: 3, cooldown: 1 } }, { timeout: 1 });
    const [, , hanging] = peers as [Peer, Peer, Peer];
    hanging.hangs = true;
    const running = load(url);
    await eventually(async () => expect((await addresses())[2]?.states['ejected']).toBe(1));
    const late = running.statuses.filter((status) => status === 504).length;
    expect(late).toBeGreaterThanOrEqual(3);
    hanging.hangs = false;
    await eventually(async () => expect((await addresses())[2]?.states['healthy']).toBe(1));
    const served = hanging.served;
    await eventually(() => expect(hanging.served).toBeGreaterThan(served + 10));
    const failed = await running.stop();
    // Those under way when it was taken out, and at most one probe for each second.
    expect(new Set(failed)).toEqual(new Set([504]));
    expect(failed.length).toBeLessThan(30);
  });

  it('answers 503 with the name of the upstream if all are out', async () => {
    bind(peers.map(({ url }) => url));
    const url = await start({ ejection: { failures: 1, cooldown: 60, panic: 0 } });
    for (const peer of peers) peer.kill();
    await eventually(async () => expect((await ask(url)).status).toBe(503));
    const refused = await ask(url);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 50]).toEqual([503, true]);
    expect(await jsonOf(refused)).toMatchObject({
      type: 'urn:gw:error:upstream-unavailable',
      detail: 'There is no healthy address of upstream "books".',
    });
  });

  it('has the addresses of its file as that changes under load, and keeps them if the file is not valid', async () => {
    const [a, b, c] = peers as [Peer, Peer, Peer];
    bind([a.url]);
    const url = await start({}, {}, ['--workers', '2']);
    const running = load(url);
    await eventually(() => expect(a.served).toBeGreaterThan(50));
    expect([b.served, c.served]).toEqual([0, 0]);
    bind([b.url, c.url]);
    await gw?.logged(({ msg }) => msg === 'addresses of upstreams replaced');
    const before = a.served + a.held.size;
    const seen = running.statuses.length;
    await eventually(() => expect(running.statuses.length).toBeGreaterThan(seen + 200));
    expect([a.served <= before, b.served > 0, c.served > 0]).toEqual([true, true, true]);
    const states = await addresses();
    expect(states.map(({ url: at, states: { healthy } }) => [at, healthy])).toEqual([
      [b.url, 2],
      [c.url, 2],
    ]);
    write('books:\n  - { url: "http://127.0.0.1:1/path" }\n');
    const rejected = await gw?.logged(({ msg }) => msg.startsWith('new addresses of upstreams rejected'));
    expect(rejected).toMatchObject({ level: 'error', reason: expect.stringContaining('write the path in "path"') });
    write('other:\n  - { url: "http://127.0.0.1:1" }\n');
    await gw?.logged(({ reason }) => String(reason).includes('upstream "books" of the artifact has no addresses'));
    expect((await addresses()).map(({ url: at }) => at)).toEqual([b.url, c.url]);
    expect(await running.stop()).toEqual([]);
  });

  it('serves a new artifact once its upstreams have addresses', async () => {
    const [a, b] = peers as [Peer, Peer, Peer];
    bind([a.url]);
    const next = join(dir, 'api.gwa');
    writeFileSync(next, await artifactOf({}));
    const url = await start({}, {}, ['--artifact', next]);
    const orders = { responses: {}, 'x-gw-dispatch': { name: 'http-upstream', config: { upstream: 'orders' } } };
    const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/orders': { get: orders } } };
    const more = await compileSpec(document, ['http-upstream'], [], {}, { upstreams: { orders: {} } });
    writeFileSync(`${next}.new`, more);
    renameSync(`${next}.new`, next);
    const rejected = await gw?.logged(({ msg }) => msg.startsWith('new artifact rejected'));
    expect(rejected).toMatchObject({ reason: expect.stringContaining('"orders" of the artifact has no addresses') });
    expect(await answer(url)).toBe('a');
    write(JSON.stringify({ books: [{ url: a.url }], orders: [b.url] }));
    await gw?.logged(() => gw?.log.filter(({ msg }) => msg === 'artifact loaded').length === 2);
    expect(await answer(`${gw?.url}/orders`)).toBe('b');
  });

  it('keeps a key at one address, and the others at theirs when one leaves', async () => {
    bind(peers.map(({ url }) => url));
    const url = await start({ balance: { hash: { header: 'x-tenant' } } });
    const keys = Array.from({ length: 60 }, (_, i) => `tenant-${i}`);
    const placed = async () =>
      new Map(
        await Promise.all(keys.map(async (key) => [key, await answer(url, { headers: { 'x-tenant': key } })] as const)),
      );
    const before = await placed();
    expect(await placed()).toEqual(before);
    expect(new Set(before.values()).size).toBe(3);
    bind(peers.slice(1).map((peer) => peer.url));
    await gw?.logged(({ msg }) => msg === 'addresses of upstreams replaced');
    const after = await placed();
    const moved = keys.filter((key) => after.get(key) !== before.get(key));
    expect(moved).toEqual(keys.filter((key) => before.get(key) === 'a'));
  });

  it('counts requests under way by its name', async () => {
    bind(peers.map(({ url }) => url));
    const url = await start({});
    for (const peer of peers) peer.hangs = true;
    const asked = [ask(url), ask(url), ask(url)];
    await eventually(async () =>
      expect(await metric('gw_upstream_requests_in_flight')).toEqual([
        'gw_upstream_requests_in_flight{upstream="books"} 3',
      ]),
    );
    for (const peer of peers) for (const response of peer.held) response.end();
    await Promise.all(asked);
    await eventually(async () =>
      expect(await metric('gw_upstream_requests_in_flight')).toEqual([
        'gw_upstream_requests_in_flight{upstream="books"} 0',
      ]),
    );
    expect((await metric('gw_dispatch_duration_seconds_count')).join()).toContain('upstream="books"');
  });

  it('does not start without addresses, and says where to write them', async () => {
    const artifact = join(dir, 'api.gwa');
    writeFileSync(artifact, await artifactOf({}));
    const args = ['--artifact', artifact, '--listen', '127.0.0.1:0', '--admin-bind', 'off'];
    const without = await refusedStart(args);
    expect(without).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('upstream "books" of the artifact has no addresses'),
    });
    bind([peers[0]?.url ?? '']);
    const plaintext = await refusedStart([...args, '--upstreams', file]);
    expect(plaintext).toMatchObject({ code: 1, stderr: expect.stringContaining('is plaintext: use https://') });
    const missing = await refusedStart([...args, '--upstreams', join(dir, 'none.yaml')]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no such file') });
  });

  it('is refused by the egress guard where an address is internal', async () => {
    bind(['https://127.0.0.2:1', 'https://127.0.0.3:1']);
    const url = await start({});
    const refused = await ask(url);
    expect([refused.status, (await jsonOf<{ detail: string }>(refused)).detail]).toEqual([
      502,
      expect.stringContaining('not at an address that the gateway may connect to'),
    ]);
  });
});
