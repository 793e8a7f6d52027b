/** The processes that are measured: nginx as upstream and as control, a bare proxy, and gw in several forms. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { freePort } from '../free-port.ts';
import { buildKeyFilter, type EnvoyForm, envoyConfig } from './envoy.ts';
import { BODY_SIZES, bytesOf, nginxConfig, type Project, UPSTREAM_ANSWER, writeProject } from './project.ts';

const GW = join(import.meta.dirname, '..', '..', 'dist', 'image', 'gw.js');

export interface Server {
  readonly port: number;
  readonly pid: number;
}

export interface GatewayServer extends Server {
  /** Path of what it serves. */
  readonly artifact: string;
}

export interface GatewayOptions {
  readonly args?: readonly string[];
  readonly tls?: boolean;
  readonly accessLog?: 'off' | 'file' | 'pipe';
}

export class Servers {
  readonly dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  readonly #children: ChildProcess[] = [];
  readonly #cert = join(this.dir, 'tls.crt');
  readonly #key = join(this.dir, 'tls.key');
  #upstream = 0;

  /** Everything else needs it. */
  async startUpstream(): Promise<void> {
    this.#certificate();
    mkdirSync(join(this.dir, 'bytes'));
    for (const bytes of BODY_SIZES) writeFileSync(join(this.dir, 'bytes', String(bytes)), 'x'.repeat(bytes));
    const { port } = await this.#nginx('upstream', (listen) =>
      nginxConfig(this.dir, { listen, location: UPSTREAM_ANSWER, server: bytesOf(this.dir, listen) }),
    );
    this.#upstream = port;
  }

  /** The control: one process, keep-alive to the upstream, bodies passed on as they come. */
  control({ tls = false, accessLog = false } = {}): Promise<Server> {
    const pool = `upstream backend { server 127.0.0.1:${this.#upstream}; keepalive 64; keepalive_requests 100000000; }`;
    const location = `proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_request_buffering off;`;
    const server = tls
      ? `ssl_certificate ${this.#cert}; ssl_certificate_key ${this.#key}; ssl_session_tickets off;`
      : '';
    return this.#nginx(tls ? 'control-tls' : `control-${accessLog}`, (listen) =>
      nginxConfig(this.dir, { listen, location, http: pool, server, tls, accessLog }),
    );
  }

  /** The same for WebSockets. */
  webSocketControl(upstreamPort: number): Promise<Server> {
    const location = `proxy_pass http://127.0.0.1:${upstreamPort}; proxy_http_version 1.1; proxy_read_timeout 600s;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;`;
    return this.#nginx('control-ws', (listen) => nginxConfig(this.dir, { listen, location }));
  }

  /** Sockets with llhttp and nothing else: the floor for a proxy, and for a mock. */
  bareSockets(role: 'proxy' | 'mock'): Promise<Server> {
    return this.program('bare-sockets.ts', role === 'proxy' ? [String(this.#upstream)] : []);
  }

  /** One worker, as of gw. Returns null for the form with a filter if cargo cannot build it. */
  async envoy(program: string, form: EnvoyForm): Promise<Server | null> {
    const port = await freePort();
    const file = join(this.dir, `envoy-${port}.json`);
    const filter = form === 'wasm' ? buildKeyFilter(this.dir) : '';
    if (filter === null) return null;
    const [certificate, key] = [this.#cert, this.#key];
    writeFileSync(file, envoyConfig({ form, listen: port, upstream: this.#upstream, certificate, key, filter }));
    const args = ['-c', file, '--concurrency', '1', '--use-dynamic-base-id', '-l', 'critical'];
    return this.#ready({ port, pid: this.#start(program, args) });
  }

  /** A program of this folder; its last argument is the port that it listens on. */
  program(name: string, args: readonly string[]): Promise<Server> {
    return this.command([process.execPath, join(import.meta.dirname, name), ...args], (port) => [String(port)]);
  }

  /** Any other command, with the arguments that make it listen on a port. */
  async command(command: readonly string[], listen: (port: number) => string[], env = {}): Promise<Server> {
    const port = await freePort();
    const [file = '', ...args] = command;
    return this.#ready({ port, pid: this.#start(file, [...args, ...listen(port)], env) });
  }

  /** Compiles a project of its own and serves it. */
  async gateway(
    project: Project,
    { args = [], tls = false, accessLog = 'off' }: GatewayOptions = {},
  ): Promise<GatewayServer> {
    const port = await freePort();
    const folder = join(this.dir, String(port));
    writeProject(folder, this.#upstreamUrl, project);
    const artifact = join(folder, 'bench.gwa');
    execFileSync(
      process.execPath,
      [GW, 'compile', '-m', join(folder, 'gw.yaml'), '-o', artifact, '--allow-plaintext'],
      {
        stdio: 'pipe',
      },
    );
    const serve = [
      ...[GW, 'serve', '--artifact', artifact, '--listen', `127.0.0.1:${port}`, '--admin-bind', 'off'],
      ...['--allow-plaintext-upstream', '--egress-allow', '127.0.0.1', ...args],
      ...(tls ? ['--tls-cert', this.#cert, '--tls-key', this.#key] : []),
      ...(accessLog === 'off' ? ['--log-level', 'warn'] : []),
    ];
    const pid = this.#start(process.execPath, serve, {}, accessLog === 'pipe');
    return { ...(await this.#ready({ port, pid })), artifact };
  }

  async stop(): Promise<void> {
    for (const child of this.#children) child.kill('SIGTERM');
    await Promise.all(this.#children.map((child) => child.exitCode ?? new Promise((end) => child.once('exit', end))));
    rmSync(this.dir, { recursive: true, force: true });
  }

  get #upstreamUrl(): string {
    return `http://127.0.0.1:${this.#upstream}`;
  }

  #certificate(): void {
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', this.#key, '-out', this.#cert, ...subject], {
      stdio: 'pipe',
    });
  }

  async #nginx(name: string, config: (port: number) => string): Promise<Server> {
    const port = await freePort();
    const file = join(this.dir, `${name}.conf`);
    writeFileSync(file, config(port));
    return this.#ready({ port, pid: this.#start('nginx', ['-c', file, '-p', this.dir]) });
  }

  /** With `piped` a `cat` reads the output, as a collector of logs does. */
  #start(file: string, args: string[], env = {}, piped = false): number {
    const log = openSync(join(this.dir, `${this.#children.length}.log`), 'w');
    const child = spawn(file, args, {
      stdio: ['ignore', piped ? this.#pipe() : log, 'inherit'],
      env: { ...process.env, NODE_ENV: 'production', ...env },
    });
    this.#children.push(child);
    if (child.pid === undefined) throw new Error(`${file} did not start`);
    return child.pid;
  }

  #pipe(): Writable {
    const reader = spawn('cat', { stdio: ['pipe', 'ignore', 'inherit'] });
    this.#children.push(reader);
    return reader.stdin;
  }

  async #ready(server: Server): Promise<Server> {
    for (let i = 0; i < 2400; i++) {
      if (await accepts(server.port)) return server;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`nothing listens on port ${server.port}`);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
