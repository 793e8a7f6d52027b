/** `gw-operator run` as its own process, as a cluster runs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { GW_OPERATOR } from '../programs/gw-operator.ts';

const MAX_LINES = 5000;

export interface LogLine {
  readonly level?: string;
  readonly msg?: string;
  readonly [name: string]: unknown;
}

export class OperatorProcess {
  /** The newest lines of its log. */
  readonly log: LogLine[] = [];
  readonly port: number;
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  #stderr = '';

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
    this.exited = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null));
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => this.#note(line));
    child.stderr?.on('data', (chunk) => {
      this.#stderr += String(chunk);
    });
  }

  /** Resolves when it has been started; `ready` says when it watches. */
  static async start(kubeconfig: string, args: readonly string[]): Promise<OperatorProcess> {
    const port = await freePort();
    const all = [GW_OPERATOR, 'run', '--image', 'gw.invalid/gw:test', '--bind', `127.0.0.1:${port}`, ...args];
    const { NODE_OPTIONS: _, VITEST: _v, ...env } = process.env;
    const child = spawn(process.execPath, all, {
      env: { ...env, KUBECONFIG: kubeconfig },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new OperatorProcess(child, port);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get errors(): string {
    return this.#stderr;
  }

  said(message: string): boolean {
    return this.log.some(({ msg }) => msg === message);
  }

  async until(message: string, ms = 90_000): Promise<void> {
    const end = performance.now() + ms;
    while (!this.said(message)) {
      if (this.#child.exitCode !== null) throw new Error(`the operator ended: ${this.#stderr}`);
      if (performance.now() > end) {
        const last = JSON.stringify(this.log.slice(-3));
        throw new Error(`the operator has not said "${message}" in ${ms} ms: ${last}`);
      }
      await pause(50);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    // One that is paused hears nothing else.
    if (signal !== 'SIGKILL') this.#child.kill('SIGCONT');
    this.#child.kill(signal);
    return this.exited;
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text();
  }

  #note(line: string): void {
    if (this.log.length >= MAX_LINES) this.log.shift();
    try {
      this.log.push(JSON.parse(line));
    } catch {
      this.log.push({ msg: line });
    }
  }
}
