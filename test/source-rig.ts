/** A server of files and a fetcher that may ask it, for tests of sources that are not in the cluster. */
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { EgressGuard } from '@gw/gateway/egress';
import { pack } from 'tar-stream';
import { RegistryClient } from '../operator/src/registry/client.ts';
import type { Objects } from '../operator/src/runtime/objects.ts';
import { type EgressSettings, type OpenFetcher, openFetcher } from '../operator/src/sources/open-fetcher.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface FileServer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** By path: bytes to give, or what to do; else 404. */
  readonly files: Map<string, string | Uint8Array | Answer>;
  /** Requests so far, `PATH` or `PATH as AUTHORIZATION`. */
  readonly seen: string[];
  close(): Promise<void>;
}

export async function startFileServer(): Promise<FileServer> {
  const files: FileServer['files'] = new Map();
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const { authorization } = request.headers;
    seen.push(authorization === undefined ? path : `${path} as ${authorization}`);
    const file = files.get(path);
    if (typeof file === 'function') file(request, response);
    else if (file === undefined) response.writeHead(404).end('nothing here, and a secret: xyzzy');
    else {
      const etag = `"${hash('sha256', file, 'hex')}"`;
      if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
      else response.writeHead(200, { etag }).end(file);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  return {
    url: `http://${host}`,
    host,
    files,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface RigOptions {
  readonly plainHttpSources?: readonly string[];
  readonly plainHttpRegistries?: readonly string[];
  readonly allow?: readonly string[];
  readonly sourceCacheBytes?: number;
}

/** What may be reached: this machine, and nothing else that is internal. */
export function testEgress(options: RigOptions = {}): EgressSettings {
  const {
    plainHttpSources = [],
    plainHttpRegistries = [],
    allow = ['127.0.0.1'],
    sourceCacheBytes = 64 << 20,
  } = options;
  const guard = new EgressGuard({ allowInternal: false, allow });
  return { guard, egressAllow: allow, plainHttpSources, plainHttpRegistries, sourceCacheBytes };
}

export function testFetcher(objects: Objects, options: RigOptions = {}): OpenFetcher {
  const egress = testEgress(options);
  return openFetcher({ egress, objects, registries: new RegistryClient(egress) });
}

export function sha256(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

export async function tarOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name, mtime: new Date(0) }, Buffer.from(content));
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) if (chunk instanceof Buffer) chunks.push(chunk);
  return Buffer.concat(chunks);
}
