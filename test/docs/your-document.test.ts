/** docs/tutorials/your-document.md, typed as it is written, in front of a server. */
import { copyFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { GW } from '../programs/gw.ts';
import { LISTENING, ROOT, walkPage } from './page-suite.ts';

let server: Server | null = null;

walkPage('docs/tutorials/your-document.md', {
  programs: { gw: [GW] },
  tools: ['curl', 'sed'],
  ports: [8080, 8081, 3000],
  async prepare(folder, port) {
    copyFileSync(join(ROOT, 'examples', 'petstore', 'openapi.yaml'), join(folder, 'openapi.yaml'));
    const started = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"id":7,"name":"Rex","kind":"dog","from":"the server"}');
    });
    server = started;
    await new Promise<void>((resolve) => started.listen(port(3000), '127.0.0.1', resolve));
    return LISTENING(port);
  },
  async after() {
    server?.closeAllConnections();
    server?.close();
  },
});
