import { describe, expect, it } from 'vitest';
import { Exchange, headerOf } from '../../../../src/exchange.ts';
import type { HandOff } from '../../../../src/hand-off.ts';
import { ObjectStore } from './object-store.ts';
import { awsStore } from './store-settings.ts';

const config = { access_key_id: 'AKID', secret_access_key: 'secret', region: 'eu-central-1', timeout: 30 };

function open(more: Record<string, string | boolean | number>): { store: ObjectStore; opened: string[] } {
  const opened: string[] = [];
  const openUpstream = (url: string) => {
    opened.push(url);
    return { name: url };
  };
  const { endpoint } = more;
  return {
    store: ObjectStore.open(
      { ...config, ...more },
      { endpoint: typeof endpoint === 'string' ? { name: endpoint } : undefined, openUpstream },
    ),
    opened,
  };
}

function request(method: string, target = '/o'): Exchange {
  const nobody = {
    headSent: false,
    send: () => {},
    stream: () => expect.fail(),
    abort: () => {},
  };
  return new Exchange(nobody, { method, target, scheme: 'http', headers: [], clientIp: '192.0.2.1', body: null });
}

async function sent(
  more: Record<string, string | boolean | number>,
  bucket: string,
  key = 'a%2Fb c',
  exchange = request('GET'),
) {
  const made = open(more).store.handOff(exchange, { bucket, key });
  if (typeof made === 'number') return made;
  return composed(made);
}

async function composed({ upstream, path, compose }: HandOff) {
  const base = new URL(upstream.name).pathname.replace(/\/+$/, '');
  const request = await compose?.({
    path: base + path,
    headers: ['host', 'x', 'authorization', 'Bearer planted'],
    body: null,
  });
  return {
    origin: request?.origin,
    path: request?.path,
    host: headerOf(request?.headers ?? [], 'host'),
    headers: request?.headers ?? [],
  };
}

describe('where buckets are', () => {
  it('is the host at AWS, whose connections go there', async () => {
    const host = 'books.s3.eu-central-1.amazonaws.com';
    expect(await sent({}, 'books')).toMatchObject({ origin: `https://${host}`, path: '/a/b%20c', host });
    expect(open({}).opened).toEqual(['https://s3.eu-central-1.amazonaws.com']);
  });

  it.each(['my.books', 'My_Books', 'x'.repeat(64)])(
    'is the path where the host has no room for its name: %s',
    async (bucket) => {
      const host = 's3.eu-central-1.amazonaws.com';
      expect(await sent({}, bucket)).toMatchObject({ origin: undefined, path: `/${bucket}/a/b%20c`, host });
    },
  );

  it('is the path where the config says so, and at every other store, below its own path', async () => {
    expect(await sent({ force_path_style: true }, 'books')).toMatchObject({
      path: '/books/a/b%20c',
      origin: undefined,
    });
    const other = await sent({ endpoint: 'http://store.example:9000/s3/', force_path_style: false }, 'books');
    expect(other).toMatchObject({ path: '/s3/books/a/b%20c', host: 'store.example:9000', origin: undefined });
  });

  it.each([
    ['us-east-1', 'https://s3.us-east-1.amazonaws.com'],
    ['us-gov-west-1', 'https://s3.us-gov-west-1.amazonaws.com'],
    ['cn-north-1', 'https://s3.cn-north-1.amazonaws.com.cn'],
    ['us-iso-east-1', 'https://s3.us-iso-east-1.c2s.ic.gov'],
    ['us-isob-east-1', 'https://s3.us-isob-east-1.sc2s.sgov.gov'],
    ['eusc-de-east-1', 'https://s3.eusc-de-east-1.amazonaws.eu'],
  ])('is in the domain of the region: %s', (region, url) => {
    expect(awsStore(region)).toBe(url);
  });
});

describe('what a store gets', () => {
  it('is signed anew for each attempt, with nothing of the client in it', async () => {
    const { store } = open({ session_token: 'of-a-session' });
    const made = store.handOff(request('GET', '/o?versionId=7'), { bucket: 'books', key: 'k' });
    if (typeof made === 'number') return expect.fail();
    const { headers, path } = await composed(made);
    expect(path).toBe('/k?versionId=7');
    expect(headers.filter((each) => each === 'authorization').length).toBe(1);
    expect(headerOf(headers, 'authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/s3\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(headerOf(headers, 'x-amz-security-token')).toBe('of-a-session');
  });

  it('falls back to one key for GET, without its query', async () => {
    const { store } = open({ fallback_key: 'index page.html' });
    const of = (method: string) => store.handOff(request(method, '/o?versionId=7'), { bucket: 'books', key: 'k' });
    expect(of('GET')).toMatchObject({ path: '/k?versionId=7', fallback: { path: '/index%20page.html' } });
    expect(of('HEAD')).not.toHaveProperty('fallback');
  });

  it('is nothing where bucket, key or query are none', async () => {
    expect(await sent({}, 'a%2fb')).toBe(-1);
    expect(await sent({}, 'books', '..%2fother')).toBe(-2);
    expect(await sent({}, 'books', '')).toBe(-2);
    expect(await sent({}, 'books', 'k', request('GET', '/o?a=%ff'))).toBe(-3);
  });
});
