import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { freePort } from './free-port.ts';

it('is one that a server can listen on, and that no connection is given meanwhile', async () => {
  for (let i = 0; i < 50; i++) {
    const port = await freePort();
    expect(port).toBeLessThan(30_000);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  }
});
