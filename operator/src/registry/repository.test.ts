import { createHash, randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EgressGuard } from '@gw/gateway/egress';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DockerRegistry, hasDockerRegistry, startDockerRegistry, USER } from '../../../test/docker-registry.ts';
import { RegistryClient } from './client.ts';
import { parseDockerConfig } from './docker-config.ts';
import { retryAfterMs } from './http.ts';
import { type Descriptor, parseImageManifest } from './manifest.ts';
import { IMAGE_CONFIG, IMAGE_MANIFEST, TAR_LAYER } from './media-types.ts';
import { parseReference } from './reference.ts';
import type { Repository } from './repository.ts';

const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
const sha256 = (bytes: Uint8Array | string) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const json = (value: object) => Buffer.from(JSON.stringify(value));
const clients: RegistryClient[] = [];

function open(host: string, name = 'team/app', password?: string): Repository {
  const client = new RegistryClient({ guard, plainHttpRegistries: [host] });
  clients.push(client);
  const auths = { [host]: { username: USER.username, password } };
  const credentials = password === undefined ? [] : parseDockerConfig(JSON.stringify({ auths }));
  return client.repository(parseReference(`${host}/${name}`), { credentials, plainHttp: true });
}

async function pushImage(
  repository: Repository,
  content: Uint8Array,
  tag?: string,
): Promise<{ digest: string; layer: Descriptor }> {
  const config = await repository.pushBlob(json({}));
  const layer = { mediaType: TAR_LAYER, ...(await repository.pushBlob(content)) };
  const manifest = {
    schemaVersion: 2,
    mediaType: IMAGE_MANIFEST,
    config: { mediaType: IMAGE_CONFIG, ...config },
    layers: [layer],
  };
  return { digest: await repository.pushManifest(json(manifest), IMAGE_MANIFEST, tag), layer };
}

afterAll(() => Promise.all(clients.map((client) => client.close())));

const skipped = hasDockerRegistry ? '' : ' (skipped: there is no docker-registry)';
const must = process.env['GW_NO_SKIP'] === '1';

describe.skipIf(!hasDockerRegistry && !must)(`a registry${skipped}`, () => {
  let plain: DockerRegistry;
  let basic: DockerRegistry;
  let token: DockerRegistry;

  beforeAll(async () => {
    [plain, basic, token] = await Promise.all([
      startDockerRegistry(),
      startDockerRegistry({ auth: 'basic' }),
      startDockerRegistry({ auth: 'token', deletes: false }),
    ]);
  });
  afterAll(() => Promise.all([plain, basic, token].map((each) => each?.close())));

  it('holds what is pushed, by digest and by tag, until it is deleted', async () => {
    const repository = open(plain.host);
    expect(await repository.tags()).toEqual([]);
    expect(await repository.resolve('v1')).toBeUndefined();
    const content = randomBytes(300_000);
    const { digest, layer } = await pushImage(repository, content, 'v1');
    expect(await repository.resolve('v1')).toBe(digest);
    expect(await repository.tags()).toEqual(['v1']);
    const pulled = await repository.manifest('v1');
    expect(pulled).toMatchObject({ digest, mediaType: IMAGE_MANIFEST });
    expect(parseImageManifest(pulled).layers).toEqual([layer]);
    expect((await repository.manifest(digest)).bytes).toEqual(pulled.bytes);
    expect(await repository.blob(layer, 1 << 20)).toEqual(content);
    expect(await repository.hasBlob(sha256('nothing'))).toBe(false);
    expect(await repository.deleteManifest(digest)).toBe(true);
    expect(await repository.deleteManifest(digest)).toBe(false);
    await expect(repository.manifest(digest)).rejects.toMatchObject({ failure: 'not-found' });
    expect(await repository.tags()).toEqual([]);
  });

  it('takes the same image twice', async () => {
    const repository = open(plain.host, 'team/twice');
    const first = await pushImage(repository, Buffer.from('same'), 'a');
    expect(await pushImage(repository, Buffer.from('same'), 'b')).toEqual(first);
    expect((await repository.tags()).toSorted()).toEqual(['a', 'b']);
  });

  it('lists all its tags', async () => {
    const repository = open(plain.host, 'team/many');
    const { digest } = await pushImage(repository, Buffer.from('x'));
    const { bytes } = await repository.manifest(digest);
    const tags = Array.from({ length: 25 }, (_, n) => `t${String(n).padStart(3, '0')}`);
    for (const tag of tags) await repository.pushManifest(bytes, IMAGE_MANIFEST, tag);
    expect((await repository.tags()).toSorted()).toEqual(tags);
  });

  it('refuses a blob that is too large before it is read', async () => {
    const repository = open(plain.host, 'team/large');
    const { layer } = await pushImage(repository, Buffer.alloc(5000));
    await expect(repository.blob(layer, 4999)).rejects.toMatchObject({ failure: 'too-large' });
  });

  it.each(['basic', 'token'] as const)('asks for a password by %s authentication', async (kind) => {
    const { host } = { basic, token }[kind];
    const { layer } = await pushImage(open(host, 'team/secret', USER.password), Buffer.from(kind), 'v1');
    expect(await open(host, 'team/secret', USER.password).blob(layer, 1000)).toEqual(Buffer.from(kind));
    const anonymous = open(host, 'team/secret').manifest('v1');
    await expect(anonymous).rejects.toMatchObject({ failure: 'unauthorized' });
    await expect(anonymous).rejects.toThrow(/kubernetes.io\/dockerconfigjson/);
    const wrong = open(host, 'team/secret', 'hunter2').manifest('v1');
    await expect(wrong).rejects.toMatchObject({ failure: 'unauthorized' });
    await expect(wrong).rejects.not.toThrow(/hunter2/);
  });

  it('is asked for one token for each right, and no more', async () => {
    const repository = open(token.host, 'team/tokens', USER.password);
    const before = token.scopes.length;
    await pushImage(repository, randomBytes(10), 'v1');
    await pushImage(repository, randomBytes(10), 'v2');
    await repository.manifest('v1');
    const asked = token.scopes.slice(before);
    expect(asked.length).toBeLessThanOrEqual(3);
    expect(asked.every((scope) => scope.startsWith('repository:team/tokens:'))).toBe(true);
  });

  it('says so where it deletes nothing', async () => {
    const repository = open(token.host, 'team/kept', USER.password);
    const { digest } = await pushImage(repository, Buffer.from('x'), 'v1');
    await expect(repository.deleteManifest(digest)).rejects.toMatchObject({ failure: 'unsupported' });
  });

  it('that is down is unavailable, and is used again once it is back', async () => {
    const own = await startDockerRegistry();
    try {
      const repository = open(own.host);
      await own.stop();
      await expect(repository.manifest('v1')).rejects.toMatchObject({ failure: 'unavailable' });
      await own.start();
      await pushImage(repository, Buffer.from('x'), 'v1');
    } finally {
      await own.close();
    }
  });
});

describe('a registry that is not what it should be', () => {
  const servers: Server[] = [];
  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  it('gives other bytes than their digest says', async () => {
    const host = await serve((_, response) => response.end('other'));
    const descriptor = { mediaType: TAR_LAYER, digest: sha256('right'), size: 5 };
    await expect(open(host).blob(descriptor, 100)).rejects.toMatchObject({ failure: 'corrupt' });
    await expect(open(host).blob({ ...descriptor, size: 6 }, 100)).rejects.toMatchObject({ failure: 'corrupt' });
    await expect(open(host).blob({ ...descriptor, size: 3 }, 100)).rejects.toMatchObject({ failure: 'corrupt' });
    await expect(open(host).manifest(sha256('right'))).rejects.toMatchObject({ failure: 'corrupt' });
  });

  it('lists tags over several pages, and then never ends', async () => {
    const pages = [{ tags: ['a', 'b'] }, { tags: ['c'] }];
    const host = await serve(({ url }, response) => {
      const page = Number(new URL(url ?? '', 'http://x').searchParams.get('last') ?? 0);
      if (page + 1 < pages.length) response.setHeader('link', `</v2/team/app/tags/list?last=${page + 1}>; rel="next"`);
      response.end(json(pages[page] ?? {}));
    });
    expect(await open(host).tags()).toEqual(['a', 'b', 'c']);
    const endless = await serve((_, response) => {
      response.setHeader('link', '</v2/team/app/tags/list?more>; rel="next"');
      response.end(json({ tags: Array.from({ length: 4000 }, (_, n) => `t${n}`) }));
    });
    expect(await open(endless).tags()).toHaveLength(10_000);
  });

  it('never ends a manifest', async () => {
    const host = await serve((_, response) => {
      const write = () => {
        while (response.write(Buffer.alloc(64 << 10)));
      };
      response.on('drain', write);
      write();
    });
    await expect(open(host).manifest('v1')).rejects.toMatchObject({ failure: 'too-large' });
  });

  it.each([429, 503])('answers %i for a while, and says when to come back', async (status) => {
    let requests = 0;
    const host = await serve((_, response) => {
      if (++requests < 3) response.writeHead(status, { 'retry-after': '0' }).end();
      else response.end(json({ tags: ['v1'] }));
    });
    expect(await open(host).tags()).toEqual(['v1']);
    expect(requests).toBe(3);
  });

  it('wants to be left alone for long', async () => {
    let requests = 0;
    const host = await serve((_, response) => {
      requests++;
      response
        .writeHead(503, { 'retry-after': '600' })
        .end(json({ errors: [{ code: 'TOOMANYREQUESTS', message: 'tidying' }] }));
    });
    await expect(open(host).tags()).rejects.toThrow('answers 503 TOOMANYREQUESTS for');
    expect(requests).toBe(1);
  });

  it.each([
    ['text', 'xyzzy'],
    ['a message', json({ errors: [{ code: 'DENIED', message: 'xyzzy', detail: 'xyzzy' }] })],
    ['a code that is none', json({ errors: [{ code: 'xyzzy' }] })],
  ])('says no by %s: nothing of it is repeated', async (_, body) => {
    const host = await serve((_, response) => void response.writeHead(403).end(body));
    const error: unknown = await open(host)
      .tags()
      .catch((caught: unknown) => caught);
    expect(String(error)).toContain('answers 403');
    expect(String(error)).not.toContain('xyzzy');
  });

  it('breaks the connection under way', async () => {
    let requests = 0;
    const host = await serve((request, response) => {
      if (++requests === 1) request.socket.destroy();
      else response.end(json({ tags: null }));
    });
    expect(await open(host).tags()).toEqual([]);
  });

  it('leads elsewhere: credentials do not follow, and addresses are vetted again', async () => {
    const content = Buffer.from('layer');
    const descriptor = { mediaType: TAR_LAYER, digest: sha256(content), size: content.length };
    const seen: (string | undefined)[] = [];
    const store = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end(content);
    });
    let target = `http://${store}/blob?signature=1`;
    const host = await serve((request, response) => {
      if (!request.headers.authorization) response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      else response.writeHead(307, { location: target }).end();
    });
    expect(await open(host, 'team/app', 'pw').blob(descriptor, 100)).toEqual(content);
    expect(seen).toEqual([undefined]);
    target = 'http://169.254.169.254/latest/meta-data';
    await expect(open(host, 'team/app', 'pw').blob(descriptor, 100)).rejects.toMatchObject({ failure: 'refused' });
  });

  it('has uploads go to another host, which gets the bytes and no credentials', async () => {
    const content = Buffer.from('upload');
    const got: { auth: string | undefined; body: string; url: string | undefined }[] = [];
    const store = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        got.push({ auth: request.headers.authorization, body: Buffer.concat(chunks).toString(), url: request.url });
        response.writeHead(201).end();
      });
    });
    const host = await serve((request, response) => {
      if (!request.headers.authorization) response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      else if (request.method === 'HEAD') response.writeHead(404).end();
      else response.writeHead(202, { location: `http://${store}/up?state=abc` }).end();
    });
    const { digest } = await open(host, 'team/app', 'pw').pushBlob(content);
    expect(got).toEqual([
      { auth: undefined, body: 'upload', url: `/up?state=abc&digest=${encodeURIComponent(digest)}` },
    ]);
  });

  it('is at an address that is not allowed', async () => {
    const client = new RegistryClient({ guard, plainHttpRegistries: ['10.255.0.1:5000'] });
    clients.push(client);
    const name = parseReference('10.255.0.1:5000/a');
    await expect(client.repository(name).tags()).rejects.toMatchObject({ failure: 'refused' });
    await expect(client.repository(name, { plainHttp: true }).tags()).rejects.toThrow('--egress-allow');
    expect(() => client.repository(parseReference('10.255.0.2/a'), { plainHttp: true })).toThrow(
      '--plain-http-registry 10.255.0.2',
    );
  });

  it('asks for what nobody knows, or names no token server', async () => {
    const challenge = async (header: string) => {
      const host = await serve((_, response) => response.writeHead(401, { 'www-authenticate': header }).end());
      return open(host, 'team/app', 'pw').tags();
    };
    await expect(challenge('Negotiate')).rejects.toThrow('requires an authentication scheme that is not supported');
    await expect(challenge('Bearer service="x"')).rejects.toThrow('no token server');
    await expect(challenge('')).rejects.toMatchObject({ failure: 'unauthorized' });
  });

  it('gives tokens that are none', async () => {
    for (const body of ['', '{}', '{"token":7}', '{"token":"a b\\r\\nx: y"}', '[]']) {
      const tokens = await serve((_, response) => response.end(body));
      const host = await serve((_, response) =>
        response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${tokens}/"` }).end(),
      );
      await expect(open(host).tags()).rejects.toThrow('answers with no token');
    }
  });

  it('takes a refresh token at its token server', async () => {
    const forms: string[] = [];
    const tokens = await serve((request, response) => {
      request.on('data', (chunk: Buffer) => forms.push(chunk.toString()));
      request.on('end', () => response.end(json({ access_token: 'abc' })));
    });
    const host = await serve((request, response) => {
      if (request.headers.authorization === 'Bearer abc') response.end(json({ tags: [] }));
      else response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${tokens}/",service="s"` }).end();
    });
    const client = new RegistryClient({ guard, plainHttpRegistries: [host] });
    clients.push(client);
    const credentials = parseDockerConfig(JSON.stringify({ auths: { [host]: { identitytoken: 'refresh' } } }));
    await client.repository(parseReference(`${host}/a`), { credentials, plainHttp: true }).tags();
    expect(Object.fromEntries(new URLSearchParams(forms[0]))).toMatchObject({
      grant_type: 'refresh_token',
      refresh_token: 'refresh',
      service: 's',
      scope: 'repository:a:pull',
    });
  });

  it('is given up at once when the client closes', async () => {
    const host = await serve(() => undefined);
    const client = new RegistryClient({ guard, plainHttpRegistries: [host] });
    const asking = client.repository(parseReference(`${host}/a`), { plainHttp: true }).tags();
    const asserted = expect(asking).rejects.toThrow('given up');
    await client.close();
    await asserted;
  });
});

it('Retry-After is seconds or a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(retryAfterMs('7', now)).toBe(7000);
  expect(retryAfterMs('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000);
  expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  expect(retryAfterMs('soon', now)).toBeUndefined();
  expect(retryAfterMs(undefined, now)).toBeUndefined();
});
