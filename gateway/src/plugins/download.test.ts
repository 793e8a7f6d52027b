import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EgressGuard } from '../egress/guard.ts';
import { download } from './download.ts';

const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
let server: Server;
let base = '';

beforeAll(async () => {
  server = createServer(({ url }, response) => {
    // The first answers nothing, the second without end.
    if (url === '/endless') response.write(Buffer.alloc(1000), () => response.write(Buffer.alloc(1000)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('gives up on a server that does not answer, and says where it was', async () => {
  const slow = download(`${base}/silent?token=secret`, { guard, allowPlaintext: true, timeoutMs: 200 });
  await expect(slow).rejects.toThrow(`cannot fetch ${base}/silent: it took more than 0.2 s`);
});

it('gives up on a body that does not end, and on one that is too large', async () => {
  const endless = { guard, allowPlaintext: true, timeoutMs: 300 };
  await expect(download(`${base}/endless`, endless)).rejects.toThrow('it took more than 0.3 s');
  await expect(download(`${base}/endless`, { ...endless, maxBytes: 1500 })).rejects.toThrow('more than 1500 bytes');
});
