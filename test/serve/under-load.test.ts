/** What changes under load: certificate and artifact replaced again and again, and the end. No request may fail. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import type { ClientHttp2Session } from 'node:http2';
import { Agent, type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG } from '../property-runs.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { h2, h2session, makeCertificate, OPENSSL } from './http.ts';

const REPLACEMENTS = LONG ? 400 : 40;

function document(body: string) {
  const dispatch = { name: 'mock', config: { body } };
  const operation = { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': dispatch };
  return { openapi: '3.1.0', info: { title: 'Load', version: '1' }, paths: { '/hello': { get: operation } } };
}

/** Status and body. Rejects where the connection fails. */
function get(send: typeof request | typeof plainRequest, url: string, options: RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    send(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', reject).on('end', () => resolve(`${response.statusCode} ${text}`));
    })
      .on('error', reject)
      .end();
  });
}

/** An HTTP/2 client that goes on with a new connection where it is told that the old one ends. */
class Http2Client {
  readonly #url: string;
  readonly #ca: string | undefined;
  #session: Promise<ClientHttp2Session> | null = null;

  constructor(url: string, ca?: string) {
    this.#url = url;
    this.#ca = ca;
  }

  async get(path: string): Promise<string> {
    this.#session ??= this.#open();
    try {
      const { status, body } = await h2(await this.#session, { ':path': path });
      return `${status} ${body}`;
    } catch (error) {
      // Node's client refuses itself what it had not sent when GOAWAY came: it was not processed (RFC 9113, 8.7).
      if (error instanceof Error && error.message.includes('REFUSED_STREAM')) return this.get(path);
      throw error;
    }
  }

  async #open(): Promise<ClientHttp2Session> {
    const session = await h2session(this.#url, this.#ca === undefined ? {} : { ca: this.#ca });
    session.on('goaway', () => {
      this.#session = null;
      session.close();
    });
    return session;
  }

  async close(): Promise<void> {
    (await this.#session)?.close();
  }
}

/** Sends one request after another until it is stopped, and keeps what was not as expected. */
class Load {
  sent = 0;
  readonly failures: unknown[] = [];
  readonly #done: Promise<unknown>;
  #over = false;

  constructor(expected: ReadonlySet<string>, clients: readonly (() => Promise<string>)[]) {
    this.#done = Promise.all(
      clients.map(async (send) => {
        while (!this.#over) {
          const answer = await send().catch((error: unknown) => error);
          this.sent++;
          if (typeof answer !== 'string' || !expected.has(answer)) this.failures.push(answer);
        }
      }),
    );
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.#done;
  }
}

describe('under load', () => {
  let dir: string;
  let one: Uint8Array;
  let two: Uint8Array;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-load-'));
    one = await compileSpec(document('one'), ['mock']);
    two = await compileSpec(document('two'), ['mock']);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const replace = (name: string, bytes: Uint8Array) => {
    writeFileSync(join(dir, `${name}.next`), bytes);
    renameSync(join(dir, `${name}.next`), join(dir, name));
  };
  const count = (gw: Gateway, text: string) => gw.log.filter(({ msg }) => msg === text).length;

  it.skipIf(!OPENSSL && process.env['GW_NO_SKIP'] !== '1')(
    `certificate and artifact are replaced ${REPLACEMENTS} times, and no request fails (needs openssl)`,
    async () => {
      const pairs = ['a', 'b'].map((name) => {
        const { cert, key } = makeCertificate(dir, name);
        return { cert: readFileSync(cert), key: readFileSync(key) };
      });
      const ca = pairs.map(({ cert }) => String(cert)).join('');
      const publish = (i: number) => {
        const { cert, key } = pairs[i % 2] as (typeof pairs)[number];
        replace('tls.crt', cert);
        replace('tls.key', key);
        replace('api.gwa', i % 2 === 0 ? one : two);
      };
      publish(0);
      const at = (name: string) => join(dir, name);
      const gw = await startGateway(one, {
        args: ['--artifact', at('api.gwa'), '--tls-cert', at('tls.crt'), '--tls-key', at('tls.key')],
      });
      const url = gw.url.replace('http:', 'https:');
      const agent = new Agent({ keepAlive: true, ca });
      const client = new Http2Client(url, ca);
      const load = new Load(new Set(['200 one', '200 two']), [
        () => get(request, `${url}/hello`, { agent }),
        () => get(request, `${url}/hello`, { agent: false, ca }),
        () => client.get('/hello'),
      ]);
      for (let i = 1; i <= REPLACEMENTS; i++) {
        const loads = count(gw, 'artifact loaded');
        publish(i);
        gw.signal('SIGHUP');
        await expect.poll(() => count(gw, 'certificate replaced'), { interval: 10 }).toBe(i);
        await expect.poll(() => count(gw, 'artifact loaded'), { interval: 10 }).toBeGreaterThan(loads);
        // The next requests are served by the new one.
        expect(await client.get('/hello')).toBe(i % 2 === 0 ? '200 one' : '200 two');
      }
      await load.stop();
      await client.close();
      agent.destroy();
      expect(load.failures).toEqual([]);
      expect(load.sent).toBeGreaterThan(REPLACEMENTS * 3);
      expect(gw.log.filter(({ level }) => level === 'error')).toEqual([]);
      expect(await gw.stop()).toBe(0);
    },
  );

  it('SIGTERM with --drain-delay fails no request of clients that go on for a second', async () => {
    const gw = await startGateway(one, { args: ['--drain-delay', '5'] });
    const agent = new PlainAgent({ keepAlive: true });
    const client = new Http2Client(gw.url);
    const load = new Load(new Set(['200 one']), [
      () => get(plainRequest, `${gw.url}/hello`, { agent }),
      () => get(plainRequest, `${gw.url}/hello`, { agent }),
      () => get(plainRequest, `${gw.url}/hello`, { agent: false }),
      () => client.get('/hello'),
      () => client.get('/hello'),
    ]);
    await expect.poll(() => load.sent).toBeGreaterThan(100);
    const exited = gw.stop();
    await gw.logged(({ msg }) => msg === 'draining');
    const before = load.sent;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(load.sent - before).toBeGreaterThan(50);
    await client.close();
    agent.destroy();
    expect(await exited).toBe(0);
  });
});
