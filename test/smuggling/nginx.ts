/** A private nginx as a reverse proxy, to compare answers with. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';

export const NGINX: boolean = (() => {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

export interface Nginx {
  readonly port: number;
  stop(): Promise<void>;
}

export interface NginxOptions {
  /** Milliseconds that it waits for a client. Default 1000. */
  readonly patienceMs?: number;
  /** Directives of its location. Default: none. */
  readonly location?: string;
  /** How it closes on a client that still sends: `off` may lose its answer. Default `off`. */
  readonly lingering?: 'off' | 'on';
}

export async function startNginx(upstream: string, options: NginxOptions = {}): Promise<Nginx> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-nginx-'));
  const port = await freePort();
  const file = join(dir, 'nginx.conf');
  writeFileSync(file, config(dir, port, upstream, options));
  const child = spawn('nginx', ['-p', dir, '-c', file, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await listening(child, port);
  return {
    port,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Defaults, but for times that a test can wait for. */
function config(
  dir: string,
  port: number,
  upstream: string,
  { patienceMs = 1000, location = '', lingering = 'off' }: NginxOptions,
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
master_process off;
error_log /dev/null;
pid ${dir}/pid;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${dir}/${name};`).join('\n  ')}
  client_header_timeout ${patienceMs}ms;
  client_body_timeout ${patienceMs}ms;
  keepalive_timeout ${patienceMs}ms;
  lingering_close ${lingering};
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${upstream};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      ${location}
    }
  }
}
`;
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  for (let tries = 0; child.exitCode === null && tries < 500; tries++) {
    const up = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`nginx did not start: ${errors}`);
}
