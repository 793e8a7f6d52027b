/** An upstream that keeps what it gets, by the address of the client that sent it. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PassedOn {
  readonly method: string;
  readonly target: string;
  /** In Latin-1. */
  readonly body: string;
}

/** Header of its answers: the number of the request among those of its client. */
export const NUMBER_HEADER = 'x-number';

export class Recorder {
  readonly url: string;
  readonly #server: Server;
  readonly #passedOn: Map<string, PassedOn[]>;

  private constructor(server: Server, passedOn: Map<string, PassedOn[]>) {
    this.#server = server;
    this.#passedOn = passedOn;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<Recorder> {
    const passedOn = new Map<string, PassedOn[]>();
    const server = createServer({ maxHeaderSize: 1 << 20, keepAliveTimeout: 60_000 }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('error', () => {});
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url: target = '' } = request;
        const requests = passedOn.get(clientOf(request.headers)) ?? [];
        passedOn.set(clientOf(request.headers), requests);
        const number = requests.push({ method, target, body: Buffer.concat(chunks).toString('latin1') }) - 1;
        response.writeHead(200, { [NUMBER_HEADER]: number, 'content-length': 2 }).end('ok');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Recorder(server, passedOn);
  }

  /** Requests of a client, which are then forgotten. */
  take(client: string): readonly PassedOn[] {
    const requests = this.#passedOn.get(client) ?? [];
    this.#passedOn.delete(client);
    return requests;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

/** The proxy adds the address of its client behind those that the client may have written. */
function clientOf(headers: IncomingHttpHeaders): string {
  return String(headers['x-forwarded-for']).split(', ').at(-1) ?? '';
}
