/**
 * One port: HTTP/1.1 and HTTP/2, told apart by ALPN under TLS and by the first bytes without
 * (docs/reference/gateway.md#connections). Makes an Exchange of each request; everything behind it knows neither
 * protocol nor sockets.
 */

import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { TLSSocket, Server as TlsServer } from 'node:tls';
import { clientNetwork } from '../client-network.ts';
import type { Eviction } from './connection-shares.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import { contained } from './contained.ts';
import { Drain } from './drain.ts';
import type { HeaderMemory } from './header-memory.ts';
import { Http1Server } from './http1.ts';
import { type Http1Connection, peerOf } from './http1-connection.ts';
import { Http2Connections } from './http2.ts';
import { OpenConnections } from './open-connections.ts';
import { ProtocolDetector } from './protocol-detector.ts';
import { StallDetector } from './stall-detector.ts';
import type { TlsSettings, TransportEvents, TransportLimits, TransportState } from './transport-state.ts';
import type { UnreadResponses } from './unread-responses.ts';
import { UpgradedConnections } from './upgraded.ts';

export interface Transport {
  /** Resolves to the address that it listens on; rejects if it cannot bind. `shared`: other processes bind it, too. */
  listen(host: string, port: number, shared?: boolean): Promise<AddressInfo>;
  /**
   * New handshakes use this pair. Connections go on with theirs; if the roots of clients' certificates are others, they
   * end: idle ones now, the rest with their answers. Only if the transport was made with TLS.
   */
  useTls(settings: TlsSettings): void;
  /** Ends a connection for others. Returns its owner, or null if no connection can end. */
  endOneOf(eviction: Eviction): string | null;
  /** From now on every response closes its connection (or sends GOAWAY); new ones are still accepted. */
  beginDrain(): void;
  /** Each connection that is open now ends so with an answer after a moment of its own within that time. */
  closeKept(withinMs: number): void;
  /** Stops accepting, waits for requests in flight up to the time, then cuts the rest. */
  close(timeoutMs: number): Promise<void>;
}

/** Resources that clients of a transport share. */
export interface SharedByClients {
  readonly slots: ConnectionSlots;
  readonly headerMemory: HeaderMemory;
  readonly unread: UnreadResponses;
}

/** Milliseconds between looks at connections of HTTP/2 that bring refused streams. */
const COUNT_REFUSED_MS = 100;

/** Without `tls` the port speaks HTTP/1.1 and h2c with prior knowledge. Connections that get no slot are dropped. */
export function createTransport(
  limits: TransportLimits,
  events: TransportEvents,
  { slots, headerMemory, unread }: SharedByClients,
  tls: TlsSettings | null = null,
): Transport {
  const drain = new Drain();
  const slowSenders = new StallDetector(limits.bodyTimeoutMs);
  const slowReaders = new StallDetector(limits.sendTimeoutMs);
  const upgraded = new UpgradedConnections();
  const state: TransportState = {
    limits,
    events,
    drain,
    headerMemory,
    unread,
    slowSenders,
    slowReaders,
    upgraded,
  };
  const open = new OpenConnections();
  const http2 = new Http2Connections(state, (tls?.clientAuth ?? 'off') !== 'off');
  const detector = new ProtocolDetector(limits.headersTimeoutMs);
  const http1 = new Http1Server(state, tls);
  const { server } = http1;
  let closing = false;
  const protocols = {
    http1: (socket: Socket) => {
      const connection = http1.begin(socket);
      open.used(socket, connection);
      return connection;
    },
    http2: (socket: Socket, scheme: string) => open.used(socket, http2.accept(socket, scheme)),
  };
  dispatchByProtocol(server, tls !== null, protocols, { detector, isClosing: () => closing });
  admitConnections(server, { slots, headerMemory }, open, events);

  const sweeping = setInterval(() => {
    const now = performance.now();
    slowSenders.sweep(now);
    slowReaders.sweep(now);
    http1.sweep(now);
    http2.sweep(now);
  }, sweepInterval(limits)).unref();
  const counting = setInterval(() => http2.countRefused(), COUNT_REFUSED_MS).unref();

  let roots = tls?.keyPair.clientCa;

  /** A certificate verified by other roots no longer identifies its client: kept connections end. */
  function endVerifiedBefore(): void {
    drain.closeKept(0);
    http2.beginDrain();
    http1.closeIdle();
  }

  return {
    useTls(settings) {
      http1.useTls(settings);
      const { clientCa } = settings.keyPair;
      const areSame = clientCa === undefined ? roots === undefined : roots?.equals(clientCa) === true;
      roots = clientCa;
      if (!areSame) endVerifiedBefore();
    },
    endOneOf: (eviction) => {
      const owner = open.endOneOf(eviction);
      if (owner !== null) events.yielded('connections', 'ended', owner);
      return owner;
    },
    listen: (host, port, shared = false) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port, backlog: 1024, reusePort: shared }, () => {
          server.off('error', reject);
          resolve(server.address() as AddressInfo);
        });
      }),
    beginDrain() {
      drain.begin();
      http2.beginDrain();
    },
    closeKept: (withinMs) => drain.closeKept(withinMs),
    close: (timeoutMs) =>
      new Promise((resolve) => {
        closing = true;
        drain.begin();
        const cut = setTimeout(() => {
          upgraded.cut();
          http2.cut();
          http1.closeAll();
        }, timeoutMs);
        server.close(() => {
          clearTimeout(cut);
          clearInterval(sweeping);
          clearInterval(counting);
          resolve();
        });
        detector.cut();
        http2.beginDrain();
        upgraded.stop();
        http1.closeIdle();
      }),
  };
}

/** Takes a connection once its protocol is known. */
interface Protocols {
  http1(socket: Socket): Http1Connection;
  http2(socket: Socket, scheme: string): void;
}

interface Dispatching {
  readonly detector: ProtocolDetector;
  /**
   * True once no more is accepted. A connection may still come from the queue for slots, or from its handshake: if it
   * is silent, nothing else would notice its end.
   */
  isClosing(): boolean;
}

/** Hands each connection to its protocol, after the TLS handshake if there is one. */
function dispatchByProtocol(
  server: NetServer | TlsServer,
  secure: boolean,
  protocols: Protocols,
  { detector, isClosing }: Dispatching,
): void {
  if (secure) {
    server.on('secureConnection', (socket: TLSSocket) => {
      if (isClosing()) socket.destroy();
      else if (socket.alpnProtocol === 'h2') protocols.http2(socket, 'https');
      else protocols.http1(socket);
    });
  } else {
    server.on('connection', (socket: Socket) => {
      if (isClosing()) return void socket.destroy();
      detector.decide(socket, {
        decided: (isHttp2) => {
          if (isHttp2) protocols.http2(socket, 'http');
          else protocols.http1(socket);
        },
        tooSlow: () => protocols.http1(socket).tooSlow(),
      });
    });
  }
}

/** Puts the slots before everything else that happens to a connection. */
function admitConnections(
  server: NetServer | TlsServer,
  { slots, headerMemory }: Pick<SharedByClients, 'slots' | 'headerMemory'>,
  connections: OpenConnections,
  events: TransportEvents,
): void {
  const accept = server.listeners('connection');
  server.removeAllListeners('connection');
  const open = (socket: Socket, owner: string | null): void => {
    if (socket.destroyed) return slots.release(owner);
    events.connectionOpened();
    const connection = connections.open(owner, socket);
    socket.on('close', () => {
      if (!connection.gaveWay) slots.release(owner);
      events.connectionClosed();
    });
    for (const listener of accept) listener.call(server, socket);
  };
  const refuse = (socket: Socket, peer: string): void => {
    socket.destroy();
    events.yielded('connections', 'refused', peer);
  };
  const admit = (socket: Socket) => {
    const peer = peerOf(socket);
    const owner = headerMemory.trusts(peer) ? null : clientNetwork(peer);
    const taken = slots.take(owner);
    if (typeof taken === 'boolean') {
      if (taken) open(socket, owner);
      else refuse(socket, peer);
      return;
    }
    const dropped = () => socket.destroy();
    socket.on('error', dropped);
    taken.then((admitted) => {
      socket.off('error', dropped);
      if (admitted) open(socket, owner);
      else refuse(socket, peer);
    }, dropped);
  };
  server.on('connection', (socket: Socket) => {
    contained(
      () => admit(socket),
      () => socket.destroy(),
      events.crashed,
    );
  });
}

/** Milliseconds: often enough that no time-out is late by more than a quarter, at most once a second. */
function sweepInterval(limits: TransportLimits): number {
  const { headersTimeoutMs, keepAliveTimeoutMs, bodyTimeoutMs, sendTimeoutMs, pingIntervalMs } = limits;
  const times = [headersTimeoutMs, keepAliveTimeoutMs, bodyTimeoutMs, sendTimeoutMs, pingIntervalMs].filter(
    (each) => each > 0,
  );
  const shortest = Math.min(...times);
  return Math.max(20, Math.min(1000, shortest / 4));
}
