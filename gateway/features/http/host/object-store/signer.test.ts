/** The examples of Amazon's documents, with their secrets that are none. */
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { chunkedLength, SignedChunks } from './signed-chunks.ts';
import { Signer } from './signer.ts';
import { storeQuery } from './store-query.ts';

const settings = {
  region: 'us-east-1',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
  endpoint: undefined,
  pathStyle: false,
  timeoutMs: 1,
  fallbackKey: undefined,
};
const at = new Date('2013-05-24T00:00:00Z');
const signer = new Signer(settings, () => at);
const host = ['host', 'examplebucket.s3.amazonaws.com'];
const nothing = ['x-amz-content-sha256', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'];
const signature = async (method: string, path: string, query: string, headers: string[]) =>
  (await signer.sign({ method, path, query: storeQuery(query) ?? expect.fail(), headers })).signature;

describe('signatures', () => {
  it('are those of the examples', async () => {
    expect(await signature('GET', '/test.txt', '', [...host, 'range', 'bytes=0-9', ...nothing])).toBe(
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    );
    expect(await signature('GET', '/', 'lifecycle', [...host, ...nothing])).toBe(
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
    expect(await signature('GET', '/', 'max-keys=2&prefix=J', [...host, ...nothing])).toBe(
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    );
  });

  it('cover a session token, which is sent', async () => {
    const temporary = new Signer({ ...settings, sessionToken: 'token' }, () => at);
    const { headers } = await temporary.sign({
      method: 'GET',
      path: '/',
      query: storeQuery('') ?? expect.fail(),
      headers: host,
    });
    const sent = Object.fromEntries(headers.map((name, i) => [name, headers[i + 1]]).filter((_, i) => i % 2 === 0));
    expect(sent['x-amz-security-token']).toBe('token');
    expect(sent['authorization']).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token');
  });

  it('of chunks go on from one another', async () => {
    const { signature: seed, signedAt } = await signer.sign({
      method: 'PUT',
      path: '/examplebucket/chunkObject.txt',
      query: storeQuery('') ?? expect.fail(),
      headers: [
        ...['host', 's3.amazonaws.com', 'x-amz-storage-class', 'REDUCED_REDUNDANCY', 'content-encoding', 'aws-chunked'],
        ...['x-amz-content-sha256', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'x-amz-decoded-content-length', '66560'],
        ...['content-length', '66824'],
      ],
    });
    expect(seed).toBe('4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9');
    const chunks = new SignedChunks(seed, (digest, before) => signer.signChunk(digest, before, signedAt));
    const out: Buffer[] = [];
    chunks.on('data', (piece) => out.push(piece));
    for (let i = 0; i < 65; i++) chunks.write(Buffer.alloc(1024, 'a'));
    chunks.end();
    await once(chunks, 'end');
    const body = Buffer.concat(out).toString();
    expect(
      [...body.matchAll(/(?<![0-9a-f])([0-9a-f]+);chunk-signature=([0-9a-f]+)\r\n/g)].map(([, size, each]) => [
        size,
        each,
      ]),
    ).toEqual([
      ['10000', 'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648'],
      ['400', '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497'],
      ['0', 'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9'],
    ]);
    expect([body.length, chunkedLength(66_560)]).toEqual([66_824, 66_824]);
  });
});
