/**
 * One pod of local mode: a child process that runs the command of the pod's first container. Resources of the container
 * (paths, ports, names of Services) are translated: mount paths become folders, container ports free ports of
 * 127.0.0.1, and a preloaded module resolves Service names from a hosts file, as the cluster's DNS does.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { request } from 'undici';
import { pause } from '../runtime/backoff.ts';
import type { Command } from './commands.ts';
import { freePort } from './free-port.ts';
import type { Container } from './local-kinds.ts';

/** Runs in the pod, so it is plain JavaScript; ends the pod when this process has ended in any way. */
const PRELOAD = `
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const file = process.env.GW_LOCAL_HOSTS_FILE;
delete process.env.GW_LOCAL_HOSTS_FILE;
const find = (name) => {
  try { return JSON.parse(readFileSync(file, 'utf8'))[String(name).toLowerCase().replace(/\\.$/, '')]; } catch { return undefined; }
};
const { lookup } = dns;
const lookupLater = dns.promises.lookup;
const answer = (address, options) => options?.all ? [{ address, family: 4 }] : { address, family: 4 };
dns.lookup = (name, options, callback) => {
  const done = callback ?? options;
  const address = find(name);
  if (address === undefined) return lookup(name, options, callback);
  const found = answer(address, callback ? options : {});
  process.nextTick(() => Array.isArray(found) ? done(null, found) : done(null, found.address, found.family));
};
dns.promises.lookup = async (name, options) => {
  const address = find(name);
  return address === undefined ? lookupLater(name, options) : answer(address, options);
};
syncBuiltinESMExports();
process.channel?.unref();
process.on('disconnect', () => process.exit(0));
`;
const PRELOAD_URL = `data:text/javascript;base64,${Buffer.from(PRELOAD).toString('base64')}`;

export interface PodProcessOptions {
  readonly container: Container;
  readonly command: Command;
  readonly variables: ReadonlyMap<string, string>;
  /** Folder of each volume. */
  readonly volumes: ReadonlyMap<string, string>;
  /** Files of this installation that stand for files of the image, by the path in the image. */
  readonly imageFiles: ReadonlyMap<string, string>;
  /** JSON: Service name to address. */
  readonly hostsFile: string;
  /** Variables of ours that every process needs, such as PATH. */
  readonly inherited: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
}

/** Lines kept for the message of a pod that fails. */
const TAIL = 20;
const PROBE_MS = 100;

export class PodProcess {
  readonly #child: ChildProcess;
  readonly #ports: ReadonlyMap<number, number>;
  readonly #container: Container;
  readonly #abort = new AbortController();
  readonly #tail: string[] = [];
  /** Resolves with its exit reason. */
  readonly exited: Promise<string>;

  private constructor(child: ChildProcess, ports: ReadonlyMap<number, number>, options: PodProcessOptions) {
    this.#child = child;
    this.#ports = ports;
    this.#container = options.container;
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = (lines.pop() ?? '').slice(-65536);
        for (const line of lines) {
          this.#tail.push(line);
          if (this.#tail.length > TAIL) this.#tail.shift();
          options.onLine(line);
        }
      });
    }
    this.exited = new Promise((resolve) => {
      child.on('error', (error) => resolve(error.message));
      child.on('close', (code, signal) => {
        this.#abort.abort();
        resolve([`exit ${signal ?? code}`, this.#tail.at(-1)].filter(Boolean).join(': '));
      });
    });
  }

  static async start(options: PodProcessOptions): Promise<PodProcess> {
    const { container, command, variables, volumes, imageFiles, hostsFile, inherited } = options;
    const ports = new Map<number, number>();
    for (const { containerPort } of container.ports ?? []) ports.set(containerPort, await freePort());
    const mounts = (container.volumeMounts ?? []).toSorted((a, b) => b.mountPath.length - a.mountPath.length);
    const translate = (text: string): string => {
      for (const [inside, here] of ports) {
        if (text === `0.0.0.0:${inside}`) return `127.0.0.1:${here}`;
        if (text === String(inside)) return String(here);
      }
      for (const { name, mountPath } of mounts) {
        const folder = volumes.get(name);
        if (folder !== undefined && (text === mountPath || text.startsWith(`${mountPath}/`)))
          return folder + text.slice(mountPath.length);
      }
      return text;
    };
    const [program = 'node', ...entry] = command.program;
    const node = program === 'node';
    // Paths of the image stay as they are, whatever is mounted over them.
    const rest = [...entry.map((path) => imageFiles.get(path) ?? path), ...command.args.map(translate)];
    const env = Object.fromEntries([...variables].map(([name, value]) => [name, translate(value)]));
    const child = spawn(node ? process.execPath : program, [...(node ? ['--import', PRELOAD_URL] : []), ...rest], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A separate process group: Ctrl-C reaches only the operator, which stops pods in order.
      detached: true,
      env: { ...inherited, ...env, GW_LOCAL_HOSTS_FILE: hostsFile },
    });
    return new PodProcess(child, ports, options);
  }

  /** Returns the port on 127.0.0.1 of a container port, given by number or name. */
  port(of: string | number | undefined): number | undefined {
    const declared = this.#container.ports ?? [];
    const port =
      of === undefined
        ? declared[0]
        : declared.find(({ name, containerPort }) => name === of || String(containerPort) === String(of));
    return port && this.#ports.get(port.containerPort);
  }

  /** Follows the readiness probe until the process ends; calls `onChange` for each change. */
  async probe(onChange: (ready: boolean) => void): Promise<void> {
    const { signal } = this.#abort;
    let ready = false;
    while (!signal.aborted) {
      const now = await this.#isReady(signal);
      if (signal.aborted) break;
      if (now !== ready) onChange(now);
      ready = now;
      await pause(ready ? 10 * PROBE_MS : PROBE_MS, signal);
    }
    if (ready) onChange(false);
  }

  /** Waits `graceMs` for its exit, then kills it. */
  async stop(graceMs: number): Promise<void> {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), graceMs);
    await this.exited;
    clearTimeout(timer);
  }

  async #isReady(signal: AbortSignal): Promise<boolean> {
    const probe = this.#container.readinessProbe?.httpGet;
    const port = this.port(probe?.port);
    if (port === undefined) return true;
    try {
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(2000)]);
      const origin = `http://127.0.0.1:${port}`;
      const url = URL.parse(probe?.path ?? '/', origin);
      // A path such as `@HOST/` would lead elsewhere.
      if (url?.origin !== origin) return false;
      const answer = await request(url, { signal: timeout });
      await answer.body.dump();
      // Without a probe of its own, a pod that answers at all is ready.
      return probe === undefined || answer.statusCode < 400;
    } catch {
      return false;
    }
  }
}
