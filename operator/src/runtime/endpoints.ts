/** The operator's own endpoints: `/healthz`, `/readyz` and `/metrics`. The only listener of the program. */
import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';

export interface EndpointsOptions {
  readonly host: string;
  /** 0 chooses a free one. */
  readonly port: number;
  readonly registry: Registry;
  /** Whether watches are in step; a replica that waits for its turn to lead is ready too. */
  readonly ready: () => boolean;
}

export class Endpoints {
  readonly #server: Server;
  readonly #options: EndpointsOptions;

  constructor(options: EndpointsOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      const answer = (status: number, type: string, body: string) => {
        response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
      };
      const path = request.url?.split('?')[0];
      if (request.method !== 'GET') answer(405, 'text/plain', 'only GET\n');
      else if (path === '/healthz') answer(200, 'text/plain', 'ok\n');
      else if (path === '/readyz')
        answer(options.ready() ? 200 : 503, 'text/plain', options.ready() ? 'ok\n' : 'not ready\n');
      else if (path === '/metrics') {
        options.registry.metrics().then(
          (text) => answer(200, options.registry.contentType, text),
          () => answer(500, 'text/plain', 'metrics failed\n'),
        );
      } else answer(404, 'text/plain', 'there are /healthz, /readyz and /metrics\n');
    });
  }

  /** Returns the port. Rejects when it is in use. */
  start(): Promise<number> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        const address = this.#server.address();
        resolve(typeof address === 'object' && address ? address.port : port);
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
