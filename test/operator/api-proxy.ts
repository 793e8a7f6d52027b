/**
 * A proxy before a real API server: it records what is asked, makes faults, and can speak as another account. Whoever
 * uses it needs no credentials: it has those of KUBECONFIG.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { type RequestInfo, requestInfo } from '../../operator/src/kube/request-info.ts';

export interface Recorded extends RequestInfo {
  readonly at: number;
  readonly status: number;
}

export type Fault =
  /** The connection breaks, before or after the server has acted. */
  | { readonly kind: 'drop'; readonly acted: boolean }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number }
  | { readonly kind: 'delay'; readonly ms: number };

export interface ApiProxyOptions {
  /** ServiceAccount to speak as. */
  readonly impersonate?: { readonly namespace: string; readonly name: string };
  /** A fault for this request; undefined lets it through. */
  fault?(info: RequestInfo): Fault | undefined;
  /** Keeps every request in `requests`. Default true. */
  readonly record?: boolean;
}

export class ApiProxy {
  readonly requests: Recorded[] = [];
  /** Requests by verb and resource with its group, such as `patch gw.dev/apispecs/status`. */
  readonly counts = new Map<string, number>();
  /** Path of a kubeconfig that leads here. */
  kubeconfig = '';
  /** When something was written last. */
  lastWrite = Date.now();
  /** How many writes were let through, but for Leases. */
  writes = 0;
  readonly #options: ApiProxyOptions;
  readonly #server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
  readonly #watches = new Set<ServerResponse>();
  #target: RequestOptions = {};
  #folder = '';

  private constructor(options: ApiProxyOptions) {
    this.#options = options;
  }

  static async start(options: ApiProxyOptions = {}): Promise<ApiProxy> {
    const proxy = new ApiProxy(options);
    const config = new KubeConfig();
    config.loadFromDefault();
    const server = new URL(config.getCurrentCluster()?.server ?? '');
    await config.applyToHTTPSOptions(proxy.#target);
    const { ca, cert, key } = proxy.#target;
    const agent = new Agent({
      keepAlive: true,
      maxSockets: 1000,
      ...(ca ? { ca } : {}),
      ...(cert ? { cert } : {}),
      ...(key ? { key } : {}),
    });
    proxy.#target = { ...proxy.#target, agent, host: server.hostname, port: server.port };
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    const address = proxy.#server.address();
    if (typeof address !== 'object' || !address) throw new Error('the proxy has no address');
    proxy.#folder = await mkdtemp(join(tmpdir(), 'gw-api-proxy-'));
    proxy.kubeconfig = join(proxy.#folder, 'kubeconfig');
    await writeFile(proxy.kubeconfig, kubeconfig(`http://127.0.0.1:${address.port}`));
    return proxy;
  }

  /** Ends every watch that is open, as a server that is restarted does. */
  cutWatches(): void {
    for (const watch of this.#watches) watch.destroy();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    const { agent } = this.#target;
    if (agent instanceof Agent) agent.destroy();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const url = new URL(incoming.url ?? '/', 'http://proxy');
    const watching = url.searchParams.has('watch');
    const info = requestInfo(incoming.method ?? 'GET', url.pathname, watching);
    const fault = info && this.#options.fault?.(info);
    if (fault?.kind === 'status') return refuse(outgoing, fault);
    if (fault?.kind === 'drop' && !fault.acted) return void incoming.socket.destroy();
    const forward = () => this.#forward(incoming, outgoing, info, watching, fault?.kind === 'drop');
    if (fault?.kind === 'delay') setTimeout(forward, fault.ms);
    else forward();
  }

  #forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    info: RequestInfo | undefined,
    watching: boolean,
    drop: boolean,
  ): void {
    const { impersonate } = this.#options;
    const { host: _, authorization: _a, ...headers } = incoming.headers;
    const upstream = request(
      {
        ...this.#target,
        method: incoming.method,
        path: incoming.url,
        headers: { ...headers, ...(impersonate ? impersonation(impersonate) : {}) },
      },
      (answer) => {
        this.#note(info, answer.statusCode ?? 0);
        if (drop) return void incoming.socket.destroy();
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
        answer.on('error', () => outgoing.destroy());
        if (watching) {
          this.#watches.add(outgoing);
          outgoing.flushHeaders();
        }
      },
    );
    upstream.on('error', () => outgoing.destroy());
    outgoing.on('close', () => {
      this.#watches.delete(outgoing);
      upstream.destroy();
    });
    incoming.pipe(upstream);
  }

  #note(info: RequestInfo | undefined, status: number): void {
    if (!info) return;
    const now = Date.now();
    const isWrite = !['get', 'list', 'watch'].includes(info.verb);
    if (isWrite && info.resource !== 'leases') {
      this.lastWrite = now;
      this.writes++;
    }
    const name = `${info.verb} ${info.group ? `${info.group}/` : ''}${info.resource}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    if (this.#options.record ?? true) this.requests.push({ ...info, at: now, status });
  }
}

/** What a token of the ServiceAccount would make of it. */
function impersonation({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  return {
    'impersonate-user': `system:serviceaccount:${namespace}:${name}`,
    'impersonate-group': ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

function refuse(outgoing: ServerResponse, { status, retryAfter }: Extract<Fault, { kind: 'status' }>): void {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: status,
    reason: 'Fault',
    message: 'a fault of the test',
  };
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter ? { 'retry-after': String(retryAfter) } : {}),
  });
  outgoing.end(JSON.stringify(body));
}

function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'proxy', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'nobody', user: {} }],
    contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'nobody' } }],
    'current-context': 'proxy',
  });
}
