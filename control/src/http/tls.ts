/** TLS of the server's own, with files that are looked after: a renewed certificate needs no restart. */
import { createServer, type Server } from 'node:https';
import { type KeyPairPaths, readKeyPair, watchKeyPair } from '@gw/gateway/tls-files';
import type { FastifyServerFactory } from 'fastify';
import type { Logger } from 'pino';

export interface ServerTls {
  /** Factory for fastify's server. */
  readonly factory: FastifyServerFactory;
  /** Stops watching the files. */
  stop(): void;
}

/** Milliseconds for a handshake. */
const HANDSHAKE_MS = 10_000;

/** `requestTimeout`: milliseconds for a request to arrive. Rejects, with instructions, if the files are not a pair. */
export async function serverTls(paths: KeyPairPaths, requestTimeout: number, log: Logger): Promise<ServerTls> {
  const pair = await readKeyPair(paths);
  const options = { minVersion: 'TLSv1.2' } as const;
  let current = pair;
  let server: Server | undefined;
  const stop = watchKeyPair(paths, pair, {
    changed(renewed) {
      current = renewed;
      server?.setSecureContext({ ...options, ...renewed });
      log.info({ certificate: paths.cert }, 'the certificate has changed: using the new one');
    },
    refused: (reason) => log.warn({ reason }, 'the certificate has changed but cannot be used: using the previous one'),
  });
  const factory: FastifyServerFactory = (handler) => {
    const handshakeTimeout = HANDSHAKE_MS;
    server = createServer({ ...options, handshakeTimeout, cert: current.cert, key: current.key }, handler);
    server.requestTimeout = requestTimeout;
    server.setTimeout(0);
    return server;
  };
  return { factory, stop };
}
