/**
 * The paths of webhooks (docs/decisions.md#webhook-paths): who knows them, what API servers are told, and what others
 * get.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { type FakeApiServer, startApiServer } from '../../../test/operator/fake-api-server.ts';
import { OPENSSL } from '../../../test/serve/http.ts';
import { renew } from '../certificates/serving-state.ts';
import { isRecord } from '../kube/kube-object.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import { HttpsServer } from '../runtime/https-server.ts';
import { SourceFetcher } from '../sources/fetcher.ts';
import { configuredPath } from './configurations.ts';
import { pathSecret, WEBHOOK_SECRET } from './path-secret.ts';
import { WebhookRegistration } from './registration.ts';
import { serveWebhooks } from './serve-webhooks.ts';
import { published, renewPaths, SPREAD_MS, webhookAt } from './webhook-paths.ts';

const DAY = 24 * 3_600_000;
const SECRET = `/api/v1/namespaces/gw-system/secrets/${WEBHOOK_SECRET}`;
const VALIDATING = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gw';
const MUTATING = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/gw';
const names = { validating: ['gw'], mutating: ['gw'] };
const closing: (() => Promise<unknown>)[] = [];

let server: FakeApiServer;
let now: number;
let errors: string[];
beforeEach(async () => {
  errors = [];
  server = await startApiServer();
  now = Date.parse('2026-01-01T00:00:00Z');
  configure();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await server.close();
});

function configure(path?: (webhook: string) => string): void {
  const service = (webhook: string) => ({
    name: 's',
    namespace: 'gw-system',
    ...(path ? { path: path(webhook) } : {}),
  });
  const client = (webhook: string) => ({ clientConfig: { service: service(webhook) } });
  server.objects.set(VALIDATING, { metadata: {}, webhooks: [client('validate')] });
  server.objects.set(MUTATING, { metadata: {}, webhooks: [client('pods'), client('pods')] });
}

function replica(ca?: string): WebhookRegistration {
  const { api } = server;
  const configured = () => configuredPath(api, names);
  const registration = new WebhookRegistration({
    api,
    names,
    paths: pathSecret(api, { namespace: 'gw-system', configured, now: () => now }),
    ca: () => ca,
    onError: (error) => errors.push(String(error), JSON.stringify(error)),
    now: () => now,
  });
  closing.push(() => registration.close());
  registration.start();
  return registration;
}

function clients(): readonly { readonly path: unknown; readonly caBundle: unknown }[] {
  return [VALIDATING, MUTATING].flatMap((at) => {
    const webhooks = server.objects.get(at)?.['webhooks'];
    return (Array.isArray(webhooks) ? webhooks : []).map(({ clientConfig: { service, caBundle } }) => ({
      path: service.path,
      caBundle,
    }));
  });
}

const paths = () => clients().map(({ path }) => String(path));
const secret = (): string => {
  const data = server.objects.get(SECRET)?.['data'];
  return Buffer.from(isRecord(data) ? String(data['path']) : '', 'base64').toString();
};

async function rotate(wish: string): Promise<void> {
  const found = server.objects.get(SECRET) ?? {};
  const metadata = isRecord(found['metadata']) ? found['metadata'] : {};
  server.objects.set(SECRET, { ...found, metadata: { ...metadata, annotations: { 'gw.dev/rotate': wish } } });
}

describe('the paths of webhooks', () => {
  it('are random, the same for two replicas that start at once, and told to API servers alone', async () => {
    const [one, other] = [replica('PEM'), replica('PEM')];
    await eventually(() =>
      expect(one.known && other.known && paths().every((path) => path !== 'undefined')).toBe(true),
    );
    expect(secret()).toMatch(/^\/webhooks\/[0-9a-f]{40}$/);
    await eventually(() => expect(paths()).toEqual(['validate', 'pods', 'pods'].map((name) => `${secret()}/${name}`)));
    const bundle = Buffer.from('PEM').toString('base64');
    expect(clients().map(({ caBundle }) => caBundle)).toEqual([bundle, bundle, bundle]);
    for (const each of [one, other]) {
      expect(each.webhookAt(`${secret()}/validate`)).toBe('validate');
      expect(each.webhookAt(`${secret()}/pods`)).toBe('pods');
      for (const wrong of ['/webhooks/validate', `${secret()}`, `${secret()}x/pods`, `${secret()}/`, '/webhooks//pods'])
        expect(each.webhookAt(wrong)).toBeUndefined();
    }
    expect(server.writes.filter((path) => path.endsWith(WEBHOOK_SECRET) || path.endsWith('secrets'))).toHaveLength(1);
  });

  it('leave authorities alone that cert-manager writes', async () => {
    replica();
    await eventually(() => expect(paths()[0]).toContain('/validate'));
    expect(clients().map(({ caBundle }) => caBundle)).toEqual([undefined, undefined, undefined]);
  });

  it('stay the fixed ones after an upgrade until all replicas know others, and are answered for a day', async () => {
    configure((webhook) => `/webhooks/${webhook}`);
    const one = replica('PEM');
    await eventually(() => expect(clients()[2]?.caBundle).toBeDefined());
    expect(paths()).toEqual(['/webhooks/validate', '/webhooks/pods', '/webhooks/pods']);
    expect(one.webhookAt(`${secret()}/pods`)).toBe('pods');
    now += SPREAD_MS;
    one.look();
    await eventually(() => expect(paths()[2]).toBe(`${secret()}/pods`));
    expect(one.webhookAt('/webhooks/pods')).toBe('pods');
    expect(one.drift).toBeUndefined();
    now += DAY;
    expect(one.webhookAt('/webhooks/pods')).toBeUndefined();
    expect(one.webhookAt(`${secret()}/pods`)).toBe('pods');
  });

  it('change on demand, once, and the ones before are answered for a day', async () => {
    const one = replica('PEM');
    await eventually(() => expect(paths()[2]).toContain('/pods'));
    const before = secret();
    await rotate('1');
    one.look();
    await eventually(() => expect(secret()).not.toBe(before));
    const after = secret();
    await eventually(() => expect(one.webhookAt(`${after}/pods`)).toBe('pods'));
    expect(paths()[0]).toBe(`${before}/validate`);
    expect(one.webhookAt(`${before}/pods`)).toBe('pods');
    now += SPREAD_MS;
    one.look();
    await eventually(() => expect(paths()[0]).toBe(`${after}/validate`));
    expect(secret()).toBe(after);
    now += DAY;
    expect(one.webhookAt(`${before}/pods`)).toBeUndefined();
  });

  it('are put back where somebody changes them, which is told until they are found in their place', async () => {
    const one = replica('PEM');
    await eventually(() => expect(paths()[2]).toBe(`${secret()}/pods`));
    expect(one.drift).toBeUndefined();
    configure(() => '/elsewhere');
    one.look();
    await eventually(() => expect(one.drift).toContain('something else changes the path'));
    expect(paths()[0]).toBe(`${secret()}/validate`);
    one.look();
    await eventually(() => expect(one.drift).toBeUndefined());
    server.refuses = true;
    configure();
    one.look();
    await eventually(() => expect(one.drift).toContain('cannot be kept'));
    expect(one.drift).not.toContain(secret());
    expect(errors[0]).toContain('not allowed');
    expect(errors.join()).not.toContain(secret());
    server.refuses = false;
    one.look();
    await eventually(() => expect(paths()[0]).toBe(`${secret()}/validate`));
  });

  it('that a Secret of somebody else holds are none', async () => {
    server.objects.set(SECRET, {
      metadata: { resourceVersion: 'a' },
      data: { path: 'L3dlYmhvb2tzL3g=', since: 'MQ==' },
    });
    replica('PEM');
    await eventually(() => expect(secret()).toMatch(/^\/webhooks\/[0-9a-f]{40}$/));
  });
});

describe('one path and the next', () => {
  const first = renewPaths(undefined, '', undefined, 1000);

  it('is the same where nothing is asked for, and another for each wish', () => {
    expect(renewPaths(first, '', '/other', 2000)).toBe(first);
    const second = renewPaths(first, 'a', undefined, 2000);
    expect(second.path).not.toBe(first.path);
    expect(second.before).toBe(first.path);
    expect(renewPaths(second, 'a', undefined, 3000)).toBe(second);
    expect(renewPaths(second, 'b', undefined, 3000).before).toBe(second.path);
  });

  it('is published at once where there was none before', () => {
    expect(published(first, 1000)).toBe(first.path);
    expect(webhookAt('/webhooks/validate', first, 1000)).toBeUndefined();
  });
});

describe('the listener of webhooks', () => {
  const PATH = `/webhooks/${'r'.repeat(32)}`;
  /** A certificate that has signed itself, and its key. */
  async function identity(name: string): Promise<{ readonly cert: string; readonly key: string }> {
    const folder = await mkdtemp(join(tmpdir(), 'gw-identity-'));
    closing.push(() => rm(folder, { recursive: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, '-subj', `/CN=${name}`], {
      stdio: 'ignore',
    });
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  }

  async function listening(clientCa?: string) {
    const trusting = clientCa === undefined ? {} : { clientCa };
    const listener = new HttpsServer({ host: '127.0.0.1', port: 0, onError: () => undefined, ...trusting });
    let reviewed = 0;
    const objects = new MemoryObjects();
    serveWebhooks(listener, {
      objects,
      catalog: { builtin: async () => undefined, read: () => Promise.reject() as never },
      sources: new SourceFetcher({ fetch: () => Promise.reject(), maxBytes: 1 }),
      namespaces: { includes: () => true },
      image: 'gw:test',
      operatorNamespace: 'gw-system',
      version: async () => ({ text: '1.34', findsSidecars: true }),
      webhookAt: (pathname) => (pathname === `${PATH}/validate` ? 'validate' : undefined),
      clientCertificates: clientCa !== undefined,
      onError: () => undefined,
      onReviewed: () => reviewed++,
    });
    const files = renew(undefined, { names: ['127.0.0.1'] }, new Date());
    const port = await listener.start(files);
    closing.push(() => listener.close());
    const ask = async (path: string, identity: object = {}) => {
      const options = { host: '127.0.0.1', port, path, method: 'POST', ca: files.ca, agent: false, ...identity };
      const asking = request(options);
      asking.end(
        JSON.stringify({
          request: { uid: 'u', operation: 'DELETE', kind: { kind: 'Deployment' }, namespace: 'a', oldObject: {} },
        }),
      );
      const answer = await new Promise<Parameters<typeof text>[0] & { statusCode?: number }>((resolve, reject) => {
        asking.on('response', resolve).on('error', reject);
      });
      return [answer.statusCode, (await text(answer)).slice(0, 40)];
    };
    return { ask, reviewed: () => reviewed };
  }

  it('answers 404 at every other path, and reviews nothing', async () => {
    const { ask, reviewed } = await listening();
    for (const path of ['/webhooks/validate', '/webhooks/pods', `${PATH}`, `${PATH}/pods`, '/webhooks/', '/'])
      expect(await ask(path)).toEqual([404, 'there is nothing here\n']);
    expect(reviewed()).toBe(0);
    expect((await ask(`${PATH}/validate`))[0]).toBe(200);
    expect(reviewed()).toBe(1);
  });

  it.skipIf(!OPENSSL)(
    'answers who shows a certificate of the authority that it was given (needs openssl)',
    async () => {
      const [server, evil] = [await identity('kube-apiserver'), await identity('kube-apiserver')];
      const { ask, reviewed } = await listening(server.cert);
      expect((await ask(`${PATH}/validate`))[0]).toBe(404);
      expect((await ask(`${PATH}/validate`, evil))[0]).toBe(404);
      expect(reviewed()).toBe(0);
      expect((await ask(`${PATH}/validate`, server))[0]).toBe(200);
      expect(reviewed()).toBe(1);
    },
  );
});
