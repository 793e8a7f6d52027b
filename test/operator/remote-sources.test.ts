/** Documents and plugins from URLs on an API server: fetched, signed, away over a restart. Needs KUBECONFIG. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { builtinPluginFiles } from '@gw/gateway/compiler';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../gateway/src/version.ts';
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { hashByCommandLine } from '../control/compiling.ts';
import { eventually } from '../eventually.ts';
import { type FileServer, sha256, startFileServer, tarOf } from '../source-rig.ts';
import { document } from './manifests.ts';
import { OperatorProcess } from './operator-process.ts';
import { User } from './user.ts';

const missing = process.env['KUBECONFIG'] ? '' : ' (skipped: KUBECONFIG not set)';

describe.skipIf(missing !== '' && process.env['GW_NO_SKIP'] !== '1')(`sources at URLs${missing}`, () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const text = document('one');
  let user: User;
  let server: FileServer;
  let operator: OperatorProcess;
  let folder = '';
  let plugin: Buffer = Buffer.alloc(0);

  const start = async () => {
    const here = ['--namespaces', user.namespace, '--namespace', user.namespace, '--no-leader-election'];
    const kubeconfig = process.env['KUBECONFIG'] ?? '';
    const egress = ['--egress-allow', '127.0.0.1', '--plain-http-source', server.host];
    const started = await OperatorProcess.start(kubeconfig, [...here, ...egress, '--serve-bind', '127.0.0.1:0']);
    await started.until('watching');
    return started;
  };
  const status = async (kind: 'GatewayProject' | 'ApiSpec' | 'PluginRef', name = 'books') => {
    const found = (await user.get(kind, name))?.['status'];
    return isRecord(found) ? found : {};
  };
  const publish = () => {
    server.files.set('/books.yaml', text).set('/SHA256SUMS', `${sha256(text)}  books.yaml\n`);
    server.files.set('/mock.tgz', plugin);
    server.files.set('/mock.tgz.sig', sign('sha256', plugin, keys.privateKey).toString('base64'));
  };

  beforeAll(async () => {
    user = await User.start('sources');
    server = await startFileServer();
    folder = await mkdtemp(join(tmpdir(), 'gw-sources-'));
    plugin = gzipSync(await tarOf(Object.fromEntries(builtinPluginFiles('mock'))));
    publish();
    operator = await start();
  });
  afterAll(async () => {
    await operator?.stop('SIGKILL');
    await server?.close();
    await user?.leave();
    await user?.api.close();
    await rm(folder, { recursive: true, force: true });
  });

  const urlOf = (path: string, more: object) => ({ url: { url: server.url + path, intervalSeconds: 10, ...more } });
  const publicKey = () => keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();

  it('compile to the hash that gw compile gives for the same files', async () => {
    await user.apply('ApiSpec', 'books', {
      spec: { source: urlOf('/books.yaml', { sha256Url: `${server.url}/SHA256SUMS` }) },
    });
    await user.apply('PluginRef', 'mock', {
      spec: { source: urlOf('/mock.tgz', { sha256: sha256(plugin) }), verify: { keys: [publicKey()] } },
    });
    await user.apply('GatewayProject', 'books', {
      spec: {
        specs: { names: ['books'] },
        plugins: [{ name: 'mock', pluginRef: 'mock' }],
        pods: { replicas: 0 },
        allowPlaintext: true,
      },
    });
    await eventually(async () =>
      expect(await user.condition('GatewayProject', 'books', 'Compiled')).toBe('True Compiled'),
    );
    expect(await user.condition('ApiSpec', 'books', 'Fetched')).toBe('True Fetched');
    expect(await status('PluginRef', 'mock')).toMatchObject({
      version: VERSION,
      fetched: { digest: sha256(plugin) },
      verifiedBy: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    await mkdir(join(folder, 'specs'));
    await writeFile(join(folder, 'specs', 'books.yaml'), text);
    await writeFile(join(folder, 'gw.yaml'), 'specs: specs\nplugins:\n  mock: {}\n');
    expect((await status('GatewayProject'))['artifactHash']).toBe(await hashByCommandLine(join(folder, 'gw.yaml')));
  });

  it('that are away when the operator starts leave the artifact that there is, and are used when they are back', async () => {
    const before = await status('GatewayProject');
    await operator.stop();
    server.files.clear();
    operator = await start();
    await eventually(async () =>
      expect(await user.condition('ApiSpec', 'books', 'Fetched')).toBe('False SourceUnavailable'),
    );
    await eventually(async () =>
      expect(await user.condition('GatewayProject', 'books', 'Accepted')).toBe('False SpecNotAccepted'),
    );
    const { artifactHash, revisions, latestRevision } = await status('GatewayProject');
    expect({ artifactHash, revisions, latestRevision }).toEqual({
      artifactHash: before['artifactHash'],
      revisions: before['revisions'],
      latestRevision: 1,
    });
    publish();
    await eventually(async () =>
      expect(await user.condition('GatewayProject', 'books', 'Accepted')).toBe('True Accepted'),
    );
    expect((await status('GatewayProject'))['latestRevision']).toBe(1);
  });

  it('are refused when they are not signed any more, and what there is stays', async () => {
    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
    await user.patch('PluginRef', 'mock', { spec: { verify: { keys: [other] } } });
    await eventually(async () =>
      expect(await user.condition('PluginRef', 'mock', 'Accepted')).toBe('False SignatureInvalid'),
    );
    await eventually(async () =>
      expect(await user.condition('GatewayProject', 'books', 'Accepted')).toBe('False PluginNotAccepted'),
    );
    expect((await status('GatewayProject'))['latestRevision']).toBe(1);
    await user.patch('PluginRef', 'mock', { spec: { verify: { keys: [publicKey()] } } });
    await eventually(async () =>
      expect(await user.condition('GatewayProject', 'books', 'Accepted')).toBe('True Accepted'),
    );
  });

  it.each([
    ['two sources', { inline: 'x', url: { url: 'https://example.org/a', sha256: 'a'.repeat(64) } }, 'exactly one of'],
    ['a URL without a hash', { url: { url: 'https://example.org/a' } }, 'exactly one of sha256 and sha256Url'],
    ['a URL of a file', { url: { url: 'file:///etc/passwd', sha256: 'a'.repeat(64) } }, 'url'],
    ['an image without a registry', { oci: { reference: 'nginx' } }, 'reference'],
  ])('of an ApiSpec with %s are refused by the API server', async (_, source, message) => {
    await expect(user.apply('ApiSpec', 'refused', { spec: { source } })).rejects.toThrow(message);
  });
});
