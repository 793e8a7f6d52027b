/** A control plane for tests: the real channel with its host's side in memory, and downloads that misbehave on demand. */
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  type ChannelOptions,
  type ChannelPorts,
  type DataPlane,
  DataPlaneChannel,
  type DisconnectReason,
  type DriftReport,
} from '../../control/src/channel/index.ts';
import { readArtifact } from '../../gateway/src/artifact/index.ts';
import type { Hello, Notice, Status } from '../../gateway/src/link/index.ts';

export const PROJECT = '6f2f7a3e-52c6-4e0c-9a1b-0d4f4c9d3a10';
export const KEY = 'planted-data-plane-key';

interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What the host heard, in order. */
export type Heard =
  | { readonly kind: 'connected'; readonly plane: DataPlane; readonly hello: Hello }
  | { readonly kind: 'reported'; readonly status: Status }
  | { readonly kind: 'drifted'; readonly report: DriftReport }
  | { readonly kind: 'disconnected'; readonly plane: DataPlane; readonly reason: DisconnectReason }
  | {
      readonly kind: 'fetched';
      readonly path: string;
      readonly range: string | undefined;
      readonly authorization: string | undefined;
    };

/** Answers a download in the place of the right answer. */
export type Fault = (response: ServerResponse, file: Buffer, request: IncomingMessage) => void;

export class LinkServer implements ChannelPorts {
  readonly heard: Heard[] = [];
  readonly errors: unknown[] = [];
  /** Keys that open the project. */
  readonly keys = new Map([[KEY, 'key-1']]);
  readonly revoked = new Set<string>();
  /** Of the next downloads, in order. */
  readonly faults: Fault[] = [];
  channel: DataPlaneChannel;
  readonly #options: ChannelOptions;
  readonly #tls: KeyPair | null;
  readonly #files = new Map<string, Buffer>();
  readonly #hellos = new Map<string, Hello>();
  readonly #waiting = new Set<() => void>();
  #wanted: Notice | null = null;
  #server: Server | null = null;
  #port = 0;
  #deployments = 0;

  /** `tls`: PEM; null: plaintext. */
  constructor(options: ChannelOptions = {}, tls: KeyPair | null = null) {
    this.#tls = tls;
    this.#options = { heartbeatMs: 500, pollMs: 60_000, ...options };
    this.channel = new DataPlaneChannel(this, this.#options);
  }

  static async start(options: ChannelOptions = {}, tls: KeyPair | null = null): Promise<LinkServer> {
    const server = new LinkServer(options, tls);
    await server.listen();
    return server;
  }

  /** Again on the port that it had. */
  async listen(): Promise<void> {
    this.channel = new DataPlaneChannel(this, this.#options);
    const download = (request: IncomingMessage, response: ServerResponse) => this.#download(request, response);
    const server = this.#tls ? createTlsServer(this.#tls, download) : createServer(download);
    server.on('upgrade', (request, socket, head) => this.channel.handleUpgrade(request, socket, head));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    const { port }: AddressInfo = server.address() as AddressInfo;
    this.#port = port;
    this.#server = server;
  }

  /** As if its process was killed. */
  async kill(): Promise<void> {
    const server = this.#server;
    const closed = new Promise((resolve) => server?.close(resolve));
    server?.closeAllConnections();
    await this.channel.close();
    await closed;
  }

  get url(): string {
    return `${this.#tls ? 'wss' : 'ws'}://127.0.0.1:${this.#port}/ws/data-plane`;
  }

  /** Options with which `gw serve` comes here. */
  get args(): readonly string[] {
    return ['--control-plane', this.url, '--project-id', PROJECT, '--api-key', KEY];
  }

  /** What data planes should serve; `lie` changes what the notice says of it. */
  async deploy(artifact: Uint8Array, lie: Partial<Notice> = {}): Promise<Notice> {
    const bytes = Buffer.from(artifact);
    const number = ++this.#deployments;
    const path = `/artifacts/${number}/download`;
    this.#files.set(path, bytes);
    const { manifest } = await readArtifact(bytes);
    const notice: Notice = {
      deployment_id: `deployment-${number}`,
      artifact_id: `artifact-${number}`,
      artifact_hash: manifest.artifact_hash,
      sha256: `sha256:${hash('sha256', bytes, 'hex')}`,
      size: bytes.length,
      path,
      ...lie,
    };
    this.want(notice);
    return notice;
  }

  want(notice: Notice | null): void {
    this.#wanted = notice;
    this.channel.announce(PROJECT, notice);
  }

  revoke(key: string): void {
    const id = this.keys.get(key);
    if (id === undefined) return;
    this.revoked.add(key);
    this.channel.revoke(id);
  }

  /** Resolves with the first, past or to come from the index on, that fits. */
  until<K extends Heard['kind']>(
    kind: K,
    fits: (event: Extract<Heard, { kind: K }>) => boolean = () => true,
    from = 0,
  ): Promise<Extract<Heard, { kind: K }>> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.heard
          .slice(from)
          .find((event): event is Extract<Heard, { kind: K }> => event.kind === kind && fits(event as never));
        if (!found) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Resolves when a data plane has said what became of the notice. */
  async outcome({ deployment_id }: Notice, outcome: Status['outcome']): Promise<Status> {
    const event = await this.until(
      'reported',
      ({ status }) => status.deployment_id === deployment_id && status.outcome === outcome,
    );
    return event.status;
  }

  // --- ChannelPorts

  async authenticate(hello: Hello) {
    const keyId = this.keys.get(hello.api_key);
    if (this.revoked.has(hello.api_key)) return { refused: 'revoked', detail: 'The API key was revoked.' } as const;
    if (keyId === undefined) return { refused: 'bad-key', detail: 'No project has this API key.' } as const;
    if (hello.project_id !== PROJECT) return { refused: 'unknown-project', detail: 'Not of this project.' } as const;
    this.#hellos.set(hello.instance_id, hello);
    return { dataPlaneId: `plane-${hello.instance_id}`, projectId: PROJECT, keyId };
  }

  async wanted(): Promise<Notice | null> {
    return this.#wanted;
  }

  deploying(): boolean {
    return false;
  }

  connected(plane: DataPlane): void {
    const hello = this.#hellos.get(plane.instanceId);
    if (hello) this.#happened({ kind: 'connected', plane, hello });
  }

  seen(): void {}

  reported(_plane: DataPlane, status: Status): void {
    this.#happened({ kind: 'reported', status });
  }

  drifted(_plane: DataPlane, report: DriftReport): void {
    this.#happened({ kind: 'drifted', report });
  }

  disconnected(plane: DataPlane, reason: DisconnectReason): void {
    this.#happened({ kind: 'disconnected', plane, reason });
  }

  failed(error: unknown): void {
    this.errors.push(error);
  }

  #happened(event: Heard): void {
    this.heard.push(event);
    for (const look of [...this.#waiting]) look();
  }

  #download(request: IncomingMessage, response: ServerResponse): void {
    const { url: path = '', headers } = request;
    const { range, authorization } = headers;
    this.#happened({ kind: 'fetched', path, range, authorization });
    const file = this.#files.get(path);
    if (!file) return void response.writeHead(404).end();
    if (!this.keys.has(authorization?.replace('Bearer ', '') ?? '')) return void response.writeHead(401).end();
    const fault = this.faults.shift();
    if (fault) return fault(response, file, request);
    sendFile(response, file, range);
  }
}

/** With an ETag, and only what was asked for. */
export function sendFile(response: ServerResponse, file: Buffer, range: string | undefined): void {
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  const etag = `"${hash('sha256', file, 'hex')}"`;
  const part = file.subarray(from);
  const headers = { etag, 'content-length': part.length, 'content-type': 'application/gzip' };
  if (from === 0) response.writeHead(200, headers);
  else response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` });
  response.end(part);
}
