/** Files at URLs, fetched from a real server. */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileServer, sha256, startFileServer, tarOf, testFetcher } from '../../../test/source-rig.ts';
import { secrets } from '../api/resources.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import type { OpenFetcher } from './open-fetcher.ts';
import type { FetchedSource, SourceOwner, UrlRequest } from './source.ts';

const DOCUMENT = 'openapi: 3.1.0\n';
const owner: SourceOwner = { kind: 'ApiSpec', namespace: 'shop', name: 'books' };

let server: FileServer;
let other: FileServer;
let objects: MemoryObjects;
let fetcher: OpenFetcher;
beforeEach(async () => {
  server = await startFileServer();
  other = await startFileServer();
  objects = new MemoryObjects();
  fetcher = testFetcher(objects, { plainHttpSources: [server.host, other.host] });
});
afterEach(async () => {
  await fetcher.close();
  await server.close();
  await other.close();
});

/** What the first look comes to: files by name, or the problem. */
async function fetched(request: Partial<UrlRequest>, of: SourceOwner = owner): Promise<FetchedSource | string> {
  const whole = { type: 'url', url: '', intervalSeconds: 300, ...request } as const;
  const done = new Promise<void>((resolve) => fetcher.sources.onChange(() => resolve()));
  if (fetcher.sources.look(of, whole).state === 'fetching') await done;
  const state = fetcher.sources.look(of, whole);
  if (state.state === 'fetched' && !state.problem) return state.source;
  if (state.state === 'failed') return `${state.problem.reason}: ${state.problem.message}`;
  return 'problem' in state && state.problem ? `${state.problem.reason}: ${state.problem.message}` : state.state;
}

async function giveToken(metadata: object): Promise<void> {
  const data = { header: Buffer.from('Bearer xyzzy\n').toString('base64') };
  await objects.apply(secrets, secrets.parse({ metadata: { name: 'token', namespace: 'shop', ...metadata }, data }));
}

const names = (source: FetchedSource | string) =>
  typeof source === 'string' ? source : [...source.content.files.keys()].join(' ');

describe('a file at a URL', () => {
  it('is fetched once where its sha256 is given', async () => {
    server.files.set('/v1/books.yaml', DOCUMENT);
    const source = await fetched({ url: `${server.url}/v1/books.yaml`, sha256: sha256(DOCUMENT) });
    expect(names(source)).toBe('books.yaml');
    expect(source).toMatchObject({ final: true, content: { digest: sha256(DOCUMENT) } });
    await fetched({ url: `${server.url}/v1/books.yaml`, sha256: sha256(DOCUMENT) });
    expect(server.seen).toEqual(['/v1/books.yaml']);
  });

  it('of another hash is refused with both', async () => {
    server.files.set('/books.yaml', 'other');
    expect(await fetched({ url: `${server.url}/books.yaml?token=xyzzy`, sha256: sha256(DOCUMENT) })).toMatch(
      /^SourceUnavailable: .*answers 404$/,
    );
    expect(await fetched({ url: `${server.url}/books.yaml`, sha256: sha256(DOCUMENT) })).toBe(
      `SourceInvalid: ${server.url}/books.yaml has sha256 ${sha256('other')}, but ${sha256(DOCUMENT)} is required`,
    );
  });

  it('has the sha256 that is found beside it', async () => {
    server.files.set('/books.yaml', DOCUMENT).set('/SHA256SUMS', `${sha256(DOCUMENT)}  books.yaml\n`);
    const request = { url: `${server.url}/books.yaml`, sha256Url: `${server.url}/SHA256SUMS` };
    expect(await fetched(request)).toMatchObject({ final: false, content: { digest: sha256(DOCUMENT) } });
    server.files.set('/none', 'nothing of the kind');
    const none = { ...request, sha256Url: `${server.url}/none` };
    expect(await fetched(none)).toMatch(/^SourceInvalid: .*\/none does not hold a line "SHA256 {2}books.yaml"/);
  });

  it('may be an archive: of a document and what it refers to, or a plugin package', async () => {
    const archive = gzipSync(await tarOf({ './api/books.yaml': DOCUMENT, 'api/id.json': '{}', 'README.md': 'x' }));
    server.files.set('/books.tgz', archive);
    expect(names(await fetched({ url: `${server.url}/books.tgz`, sha256: sha256(archive) }))).toBe(
      'api/books.yaml api/id.json',
    );
    const toml = '[plugin]\nname = "echo"\nversion = "1.0.0"\ntype = "dispatcher"\n';
    const plugin = gzipSync(await tarOf({ 'echo-1/plugin.toml': toml, 'echo-1/echo.wasm': '\0asm\x01\0\0\0' }));
    server.files.set('/echo.tar.gz', plugin);
    const ref: SourceOwner = { kind: 'PluginRef', namespace: 'shop', name: 'echo' };
    const source = await fetched({ url: `${server.url}/echo.tar.gz`, sha256: sha256(plugin) }, ref);
    expect(names(source)).toBe('plugin.wasm plugin.toml');
  });

  it.each([
    ['something else than a tar', gzipSync('text'), 'it is not a tar archive'],
    ['a bomb', gzipSync(Buffer.alloc(65 << 20)), 'more than'],
  ])('that is an archive of %s is refused', async (_, bytes, message) => {
    server.files.set('/bad.tgz', bytes);
    expect(await fetched({ url: `${server.url}/bad.tgz`, sha256: sha256(bytes) })).toContain(message);
  });

  it('is asked for with the Authorization of a Secret, which no other server gets to see', async () => {
    await giveToken({ labels: { 'gw.dev/credential': 'true' }, annotations: { 'gw.dev/hosts': server.host } });
    server.files.set('/moved.yaml', (_, response) => {
      response.writeHead(302, { location: `${other.url}/books.yaml` }).end();
    });
    other.files.set('/books.yaml', DOCUMENT);
    const authorization = { name: 'token', key: 'header' };
    const request = { url: `${server.url}/moved.yaml`, sha256: sha256(DOCUMENT), authorization };
    expect(names(await fetched(request))).toBe('moved.yaml');
    expect(server.seen).toEqual(['/moved.yaml as Bearer xyzzy']);
    expect(other.seen).toEqual(['/books.yaml']);
    // Another namespace has no such Secret.
    const stranger: SourceOwner = { ...owner, namespace: 'other' };
    expect(await fetched(request, stranger)).toBe('SourceNotFound: Secret "token" is not in namespace "other"');
    const missing = { ...request, authorization: { name: 'token', key: 'none' } };
    expect(await fetched(missing)).toBe('SourceNotFound: Secret "token" has no key "none"');
  });

  it.each([
    ['says nothing', {}],
    ['has the annotation without the label', { annotations: { 'gw.dev/hosts': '127.0.0.1' } }],
    ['has the label alone', { labels: { 'gw.dev/credential': 'true' } }],
    [
      'names another host',
      { labels: { 'gw.dev/credential': 'true' }, annotations: { 'gw.dev/hosts': 'api.example.org' } },
    ],
  ])('is not asked for with a Secret that %s: nothing is sent at all', async (_, metadata) => {
    await giveToken(metadata);
    server.files.set('/books.yaml', DOCUMENT);
    const authorization = { name: 'token', key: 'header' };
    const problem = await fetched({ url: `${server.url}/books.yaml`, sha256: sha256(DOCUMENT), authorization });
    expect(problem).toMatch(/^CredentialNotGranted: Secret "token" does not allow being sent to 127\.0\.0\.1:/);
    expect(problem).not.toContain('api.example.org');
    // Nor is it told which keys there are.
    const none = await fetched({
      url: `${server.url}/a`,
      sha256: sha256(''),
      authorization: { name: 'token', key: 'x' },
    });
    expect(none).toMatch(/^CredentialNotGranted/);
    expect(server.seen).toEqual([]);
  });

  it('sends the Secret to the server of its checksum only where the Secret names that too', async () => {
    server.files.set('/books.yaml', DOCUMENT);
    other.files.set('/SHA256SUMS', `${sha256(DOCUMENT)}  books.yaml\n`);
    const labels = { 'gw.dev/credential': 'true' };
    const authorization = { name: 'token', key: 'header' };
    const request = { url: `${server.url}/books.yaml`, sha256Url: `${other.url}/SHA256SUMS`, authorization };
    await giveToken({ labels, annotations: { 'gw.dev/hosts': server.host } });
    expect(names(await fetched(request))).toBe('books.yaml');
    expect(server.seen).toEqual(['/books.yaml as Bearer xyzzy']);
    expect(other.seen).toEqual(['/SHA256SUMS']);
    await giveToken({ labels, annotations: { 'gw.dev/hosts': `${server.host}, ${other.host}` } });
    expect(names(await fetched({ ...request, intervalSeconds: 301 }))).toBe('books.yaml');
    expect(other.seen).toEqual(['/SHA256SUMS', '/SHA256SUMS as Bearer xyzzy']);
  });

  it.each([
    ['internal, and not opened', 'http://10.1.2.3/books.yaml', '--plain-http-source 10.1.2.3'],
    ['internal, over TLS', 'https://169.254.169.254/latest', '--egress-allow'],
    ['with credentials in it', 'https://user:xyzzy@127.0.0.1/books.yaml', 'holds credentials'],
    ['with a fragment', 'https://127.0.0.1/books.yaml#xyzzy', 'has a fragment'],
    ['none', 'https://', 'not a valid URL'],
  ])('%s is not fetched', async (_, url, message) => {
    const problem = await fetched({ url, sha256: sha256(DOCUMENT) });
    expect(problem).toContain(message);
    expect(problem).not.toContain('xyzzy');
  });

  it.each(['sha256Url', 'signatureUrl'])('is not fetched where %s is none', async (field) => {
    const request = { url: `${server.url}/a.yaml`, sha256: sha256(DOCUMENT), [field]: 'https://' };
    expect(await fetched(request)).toBe('InvalidSpec: the URL is not a valid URL');
    expect(server.seen).toEqual([]);
  });

  it('that leads inwards by a redirect is not fetched', async () => {
    server.files.set('/in', (_, response) => {
      response.writeHead(302, { location: 'http://10.1.2.3/secret' }).end();
    });
    expect(await fetched({ url: `${server.url}/in`, sha256: sha256(DOCUMENT) })).toMatch(
      /^SourceUnavailable: .*10\.1\.2\.3.*--egress-allow/,
    );
  });

  it('that is too large, redirects for ever or says no is a problem, and its body is not repeated', async () => {
    server.files
      .set('/large', (_, response) => void response.writeHead(200, { 'content-length': 1 << 30 }).write('x'))
      .set('/round', (_, response) => void response.writeHead(307, { location: '/round' }).end())
      .set('/denied', (_, response) => void response.writeHead(403).end('xyzzy'));
    const of = (path: string) => fetched({ url: `${server.url}${path}`, sha256: sha256(DOCUMENT) });
    expect(await of('/large')).toMatch(/^SourceInvalid: .*more than/);
    expect(await of('/round')).toMatch(/^SourceUnavailable: .*answers 307/);
    expect(await of('/denied')).toBe(`SourceUnavailable: ${server.url}/denied answers 403: see authorization`);
  });
});

describe('the signature of a file', () => {
  it('is fetched too, and asked for again where it is not there yet', async () => {
    server.files.set('/books.yaml', DOCUMENT);
    const request = {
      url: `${server.url}/books.yaml`,
      sha256: sha256(DOCUMENT),
      signatureUrl: `${server.url}/books.yaml.sig`,
    };
    expect(await fetched(request)).toMatchObject({ final: false, unsigned: expect.stringContaining('404') });
    server.files.set('/books.yaml.sig', 'AAAA\n');
    const again = { ...request, intervalSeconds: 301 };
    expect(await fetched(again)).toMatchObject({ final: true, signature: 'AAAA' });
  });
});
