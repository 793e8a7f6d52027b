/**
 * Connects to upstreams through the guard: resolves once, vets every address, connects to one of them by number,
 * and checks the peer of the socket, so that neither a literal, a second DNS answer nor a redirect slips through.
 */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { EgressGuard } from './guard.ts';
import type { Connector, ConnectTarget } from './http1/connection-pool.ts';
import { LookupsCrowded, systemAddresses } from './name-lookups.ts';

/** The guard said no; becomes 502 and one line in the log. */
export class EgressRefused extends Error {
  readonly code = 'GW_EGRESS_REFUSED';
}

/** No connection within the time. */
export class ConnectTimeout extends Error {
  readonly code = 'GW_CONNECT_TIMEOUT';
}

export interface ConnectorOptions {
  readonly guard: EgressGuard;
  readonly timeoutMs: number;
  /** For `https:`: client certificate and roots. */
  readonly secureContext?: SecureContext;
  /**
   * Returns all addresses of a host name, until the signal is aborted; default the system's resolver, which a process
   * shares.
   */
  readonly resolve?: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
}

export function createConnector(options: ConnectorOptions): Connector {
  return (target, callback) => {
    open(target, options).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

async function open(target: ConnectTarget, options: ConnectorOptions): Promise<Socket> {
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const secure = target.protocol === 'https:';
  const port = Number(target.port || (secure ? 443 : 80));
  const tls: ClientTls = { alpn: ['http/1.1'], ...(options.secureContext ? { context: options.secureContext } : {}) };
  return connectVetted(
    host,
    port,
    options,
    deadline,
    secure ? (raw) => startTlsClient(raw, host, deadline, tls) : null,
  );
}

/**
 * Connects to one of a host's addresses, each vetted, over which `secure` may put TLS; if an address fails, the next is
 * tried. Rejects with EgressRefused, ConnectTimeout or errors of the system.
 */
export async function connectVetted(
  host: string,
  port: number,
  options: ConnectorOptions,
  deadline: AbortSignal,
  secure: ((raw: Socket) => Promise<Socket>) | null = null,
): Promise<Socket> {
  const addresses = await vetted(host, options, deadline);
  let last: unknown;
  for (const address of addresses) {
    try {
      const socket = await connectTo(address, port, deadline);
      if (!options.guard.permits(host, socket.remoteAddress ?? '')) {
        socket.destroy();
        throw new EgressRefused(`connection to ${host} ended at an address that egress does not allow`);
      }
      return secure ? await secure(socket) : socket;
    } catch (error) {
      last = error;
      if (deadline.aborted) break;
    }
  }
  throw deadline.aborted ? new ConnectTimeout(`no connection to ${host}:${port} in ${options.timeoutMs} ms`) : last;
}

async function vetted(
  host: string,
  { guard, resolve = systemAddresses, timeoutMs }: ConnectorOptions,
  deadline: AbortSignal,
): Promise<readonly string[]> {
  if (guard.closed !== null) throw new EgressRefused(guard.closed);
  const found = isIP(host)
    ? [host]
    : await resolve(host, deadline).catch((error: unknown) => {
        // Its name servers were silent, unless the lookup was still queued, which is not their fault.
        const isLate = deadline.aborted && !(error instanceof LookupsCrowded);
        throw isLate ? new ConnectTimeout(`no address of ${host} in ${timeoutMs} ms`) : error;
      });
  const refused = found.find((address) => !guard.permits(host, address));
  if (refused !== undefined) {
    throw new EgressRefused(
      // The message hides the address, which the author of the name need not know.
      `${host} is at a loopback, private, link-local or metadata address: egress to it is not allowed; open it with --egress-allow`,
    );
  }
  if (found.length === 0) throw new Error(`${host} has no address`);
  return found;
}

function connectTo(host: string, port: number, deadline: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
  return settled(socket, 'connect', deadline);
}

export interface ClientTls {
  /** Protocols to offer. Default: none. */
  readonly alpn?: readonly string[];
  /** Client certificate and roots. Default: the system's roots. */
  readonly context?: SecureContext;
}

/** TLS over a connection, with the certificate of this host, whichever address it is connected to. */
export function startTlsClient(raw: Socket, host: string, deadline: AbortSignal, tls: ClientTls): Promise<Socket> {
  const socket = connectTls({
    socket: raw,
    ...(isIP(host) ? { host } : { servername: host, host }),
    ...(tls.alpn ? { ALPNProtocols: [...tls.alpn] } : {}),
    ...(tls.context ? { secureContext: tls.context } : {}),
  });
  return settled(socket, 'secureConnect', deadline);
}

/** Resolves with the socket on the event, rejects on its error or at the deadline, and then destroys it. */
function settled<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', deadline: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const end = (error?: Error) => {
      socket.off(event, done).off('error', end).off('close', closed);
      deadline.removeEventListener('abort', late);
      if (!error) return resolve(socket);
      socket.on('error', () => {});
      socket.destroy();
      reject(error);
    };
    const done = () => end();
    const closed = () => end(new Error('the connection was closed before it was ready'));
    const late = () => end(new ConnectTimeout('no connection in time'));
    socket.once(event, done).once('error', end).once('close', closed);
    deadline.addEventListener('abort', late, { once: true });
    if (deadline.aborted) late();
  });
}
