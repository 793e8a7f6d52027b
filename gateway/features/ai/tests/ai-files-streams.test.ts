/** Uploads and downloads through ai-proxy: they stream, at the pace of the slower side, and a peer that fails costs that one only. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { filesPaths, IDS_KEY, KEYED, KEYS, KEYS_ENV, SCHEMES } from '../../../../test/serve/ai-files-project.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';

const MIB = 1 << 20;
const LARGEST = 300 * MIB;
const PIECE = Buffer.alloc(64 << 10, 'x');
const FILE = { id: 'file-0123456789', object: 'file', bytes: 1, filename: 'a', purpose: 'batch', status: 'processed' };

type Handler = (asked: IncomingMessage, answer: ServerResponse) => void;

/** Uploads are read to their end, or never; other requests are answered with an object. */
const reads: Handler = async (asked, answer) => {
  let bytes = 0;
  try {
    for await (const piece of asked) bytes += piece.length;
  } catch {
    return;
  }
  answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...FILE, bytes }));
};
const says =
  (body: string | Buffer, status = 200): Handler =>
  (asked, answer) => {
    asked.resume();
    asked.on('end', () => answer.writeHead(status, { 'content-type': 'application/json' }).end(body));
  };

/** By the name of a config, which is where it finds its provider: each has a circuit breaker of its own. */
const providers: Record<string, Handler> = {
  reads,
  patient: reads,
  leaving: reads,
  idle: () => {},
  early: (asked, answer) => {
    asked.resume();
    answer.writeHead(413, { 'content-type': 'application/json' }).end('{"error":{"message":"too large"}}');
  },
  endless: (asked, answer) => {
    if (!asked.url?.endsWith('/content')) return reads(asked, answer);
    answer.writeHead(200, { 'content-type': 'application/jsonl' });
    endless(answer);
  },
  half: (asked, answer) => {
    if (!asked.url?.endsWith('/content')) return reads(asked, answer);
    answer.writeHead(200, { 'content-length': 100 }).write('half', () => answer.destroy());
  },
  text: says('<html>'),
  list: says('[]'),
  nameless: says('{}'),
  path: says(JSON.stringify({ ...FILE, id: '../batches' })),
  number: says(JSON.stringify({ ...FILE, id: 5 })),
  output: says(JSON.stringify({ ...FILE, output_file_id: { id: 'x' } })),
  huge: says(JSON.stringify({ ...FILE, filename: 'x'.repeat(2 * MIB) })),
  deep: says(JSON.stringify({ ...FILE, deep: [] }).replace('[]', '['.repeat(5000) + ']'.repeat(5000))),
  redirect: says('', 302),
  failing: says('{"error":{}}', 500),
};
const pace = { bytes: 0 };

function endless(answer: ServerResponse): void {
  const more = () => {
    do pace.bytes += PIECE.length;
    while (!answer.destroyed && answer.write(PIECE));
  };
  answer.on('drain', more);
  more();
}

let server: Server;
let gw: Gateway;
/** Requests at the provider that have not ended. */
const open = new Set<IncomingMessage>();
const isOpen = (name: string) => [...open].some(({ url }) => url?.startsWith(`/${name}/`));

beforeAll(async () => {
  server = createServer((asked, answer) => {
    open.add(asked);
    answer.on('close', () => open.delete(asked));
    asked.on('error', () => {});
    providers[asked.url?.split('/')[1] ?? '']?.(asked, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const files = { id_key: 'env://IDS_KEY' };
  const paths = Object.keys(providers).flatMap((name) => {
    const base_url = `http://127.0.0.1:${port}/${name}`;
    const timeout = name === 'idle' || name === 'patient' ? 1 : 60;
    return filesPaths(`/${name}`, { provider: 'provider_chat', base_url, timeout, files }, [KEYED]);
  });
  const document = {
    openapi: '3.1.0',
    info: { title: 'files', version: '1' },
    components: { securitySchemes: SCHEMES },
    paths: Object.fromEntries(paths),
  };
  const args = ['--max-body-size', String(LARGEST)];
  gw = await startGateway(await compileSpec(document, ['ai-proxy', 'apikey-auth']), {
    args,
    env: { IDS_KEY, ...KEYS_ENV },
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  server.close();
  server.closeAllConnections();
});

const headers = { 'X-API-Key': KEYS.ann, 'content-type': 'multipart/form-data; boundary=b' };

function upload(name: string, more: Readonly<Record<string, string>> = {}) {
  const options = { method: 'POST', headers: { ...headers, ...more }, agent: false };
  const sending = request(`${gw.url}/${name}/v1/files`, options);
  sending.on('error', () => {});
  const answered = once(sending, 'response').then(async ([response]: readonly IncomingMessage[]) => {
    const text = (await response?.setEncoding('utf8').toArray())?.join('') ?? '';
    return { status: response?.statusCode, text };
  });
  return { sending, answered };
}

function* pieces(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= PIECE.length) yield PIECE.subarray(0, left);
}

const get = (path: string, init: RequestInit = {}) =>
  fetch(`${gw.url}/${path}`, { ...init, headers: { 'X-API-Key': KEYS.ann } });

/** Id of the file that a provider names, as Ann sees it. */
async function fileAt(name: string): Promise<string> {
  const { sending, answered } = upload(name);
  sending.end('x');
  return JSON.parse((await answered).text).id;
}

const peakMiB = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${gw.pid}/status`, 'utf8'))?.[1]) / 1024;

describe('an upload', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['with its length', { 'content-length': String(256 * MIB) }],
    ['in chunks', {}],
  ])('%s passes without being held', async (_, more) => {
    await fileAt('reads');
    const before = peakMiB();
    const { sending, answered } = upload('reads', more);
    Readable.from(pieces(256 * MIB)).pipe(sending);
    const { status, text } = await answered;
    expect([status, JSON.parse(text).bytes]).toEqual([200, 256 * MIB]);
    expect(peakMiB() - before).toBeLessThan(100);
  });

  it('waits for a provider that reads nothing, and is given up in time', async () => {
    const before = peakMiB();
    const { sending, answered } = upload('idle');
    Readable.from(pieces(256 * MIB)).pipe(sending);
    expect((await answered).status).toBe(502);
    expect(peakMiB() - before).toBeLessThan(100);
    sending.destroy();
  });

  it('may take its client longer than a provider may take', async () => {
    const { sending, answered } = upload('patient');
    sending.write('a');
    // Each takes as long as the provider has.
    for (let i = 0; i < 2; i++) expect((await get(`idle/v1/files/${await anyId()}`)).status).toBe(502);
    sending.write('b');
    expect((await get(`idle/v1/files/${await anyId()}`)).status).toBe(502);
    sending.end('c');
    const { status, text } = await answered;
    expect([status, JSON.parse(text).bytes]).toEqual([200, 3]);
  });

  it('whose client leaves ends at the provider, whose circuit stays closed', async () => {
    for (let i = 0; i < 7; i++) {
      const { sending, answered } = upload('leaving');
      sending.write('half');
      await eventually(() => isOpen('leaving'));
      sending.destroy();
      await expect(answered).rejects.toThrow();
      await eventually(() => !isOpen('leaving'));
    }
    expect(await fileAt('leaving')).toMatch(/^file-/);
  });

  it('is answered where the provider answers before its end', async () => {
    const { sending, answered } = upload('early');
    Readable.from(pieces(256 * MIB)).pipe(sending);
    const { status, text } = await answered;
    expect([status, text]).toEqual([413, '{"error":{"message":"too large"}}']);
    sending.destroy();
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['as it says', { 'content-length': String(LARGEST + 1) }],
    ['as it turns out', {}],
  ])('that is larger than bodies may be, %s, is refused, and is no failure of the provider', async (_, more) => {
    const { sending, answered } = upload('leaving', more);
    Readable.from(pieces(LARGEST + 1)).pipe(sending);
    const { status, text } = await answered;
    expect([status, JSON.parse(text).type]).toEqual([400, 'urn:gw:error:validation-failed']);
    sending.destroy();
    await eventually(() => !isOpen('leaving'));
    expect(await fileAt('leaving')).toMatch(/^file-/);
  });
});

/** One of the provider that does not answer, which is the same file everywhere, for its own config. */
async function anyId(): Promise<string> {
  const { BoundIds } = await import('../host/proxy/targets/bound-ids.ts');
  const { port } = server.address() as AddressInfo;
  const account = `provider http://127.0.0.1:${port}/idle`;
  return new BoundIds(IDS_KEY).of({ consumer: 'ann', account }).bind('files', FILE.id);
}

describe('a download', () => {
  it('comes as fast as its client takes it, and ends with it', async () => {
    const id = await fileAt('endless');
    const leaves = new AbortController();
    const response = await get(`endless/v1/files/${id}/content`, { signal: leaves.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(response.headers.get('content-type')).toBe('application/jsonl');
    // Whoever takes no more has others served meanwhile.
    for (let i = 0; i < 20; i++) await fileAt('reads');
    leaves.abort();
    await eventually(() => !isOpen('endless'));
    expect(pace.bytes).toBeLessThan(64 * MIB);
  });

  it('that breaks off is not taken for a whole one', async () => {
    const response = await get(`half/v1/files/${await fileAt('half')}/content`);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });
});

describe('an answer that is none', () => {
  it.each(['text', 'list', 'nameless', 'path', 'number', 'output', 'huge', 'deep', 'redirect', 'failing'])(
    'is 502, and nothing of it is passed: %s',
    async (name) => {
      const { sending, answered } = upload(name);
      sending.end('x');
      const { status, text } = await answered;
      expect([status, JSON.parse(text).error.type]).toEqual([502, 'server_error']);
      expect(text).not.toMatch(/127\.0\.0\.1|html|batches/);
    },
  );
});
