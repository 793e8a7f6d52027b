/**
 * The control plane of local mode, on an embedded database in memory: shows the folder's projects and their history,
 * and deploys to the gateways that serve them. Gateways neither wait for it nor fail with it.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { messageOf } from '@gw/gateway/message-of';
import { LABEL_PROJECT } from '../objects/names.ts';
import { freePort } from './free-port.ts';
import type { RunnableWorkload } from './local-kinds.ts';
import type { CompiledProject, ProjectAccess } from './mirror.ts';
import type { Report } from './report.ts';

export interface ConsoleOptions {
  /** Port 0: a free one. */
  readonly listen: { readonly host: string; readonly port: number };
}

interface Running {
  mirror(key: string, compiled: CompiledProject): Promise<void>;
  close(): Promise<void>;
}

export class Console {
  readonly #report: Report;
  readonly #host: string;
  readonly #port: number;
  readonly #token = `local-${randomBytes(24).toString('base64url')}`;
  readonly #access = new Map<string, ProjectAccess>();
  /** The newest of each project that is not mirrored yet. */
  readonly #waiting = new Map<string, CompiledProject>();
  readonly #begun = Promise.withResolvers<void>();
  readonly #started: Promise<Running | null>;
  #mirroring: Promise<void> = Promise.resolve();
  #closed = false;

  static async start({ listen }: ConsoleOptions, report: Report): Promise<Console> {
    return new Console(listen.host, listen.port === 0 ? await freePort() : listen.port, report);
  }

  private constructor(host: string, port: number, report: Report) {
    this.#host = host;
    this.#port = port;
    this.#report = report;
    this.#started = this.#start();
  }

  /** Starts the control plane, which takes seconds, after the gateways have started. */
  begin(): void {
    this.#begun.resolve();
  }

  /** Returns the variables that make a gateway pod a data plane of its project; empty for other pods. */
  variables({ metadata }: RunnableWorkload, pod: string): ReadonlyMap<string, string> {
    const project = metadata.labels?.[LABEL_PROJECT];
    if (project === undefined) return new Map();
    const { projectId, apiKey } = this.#accessOf(`${metadata.namespace}/${project}`);
    return new Map([
      ['GW_CONTROL_PLANE', `ws://${this.#address}/ws/data-plane`],
      ['GW_PROJECT_ID', projectId],
      ['GW_API_KEY', apiKey],
      ['GW_DATA_PLANE_NAME', pod],
    ]);
  }

  /** Takes the inputs and the result of a project's compilation. */
  compiled(key: string, compiled: CompiledProject): void {
    this.#accessOf(key);
    this.#waiting.set(key, compiled);
    this.#mirroring = this.#mirroring.then(() => this.#mirror(key));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.begin();
    await this.#mirroring;
    await (await this.#started)?.close();
  }

  async #start(): Promise<Running | null> {
    await this.#begun.promise;
    if (this.#closed) return null;
    try {
      // The module takes a second to load: the gateways do not wait for it.
      const { startMirror } = await import('./mirror.ts');
      const running = await startMirror({
        listen: { host: this.#host, port: this.#port },
        adminToken: this.#token,
        accessOf: (key) => this.#accessOf(key),
        known: () => [...this.#access.keys()],
      });
      this.#report.plain(`\n  console: http://${this.#address}/ui/#token=${this.#token}\n`);
      return running;
    } catch (error) {
      const reason = messageOf(error);
      this.#report.problem('console', `${reason}; the gateways serve without it (--console off disables it)`);
      return null;
    }
  }

  async #mirror(key: string): Promise<void> {
    const compiled = this.#waiting.get(key);
    this.#waiting.delete(key);
    const running = await this.#started;
    if (compiled === undefined || running === null || this.#closed) return;
    try {
      await running.mirror(key, compiled);
    } catch (error) {
      this.#report.problem(`console, ${key}`, messageOf(error));
    }
  }

  #accessOf(key: string): ProjectAccess {
    const known = this.#access.get(key);
    if (known) return known;
    const made = { projectId: randomUUID(), apiKey: `gwk_${randomBytes(32).toString('base64url')}` };
    this.#access.set(key, made);
    return made;
  }

  get #address(): string {
    return `${this.#host.includes(':') ? `[${this.#host}]` : this.#host}:${this.#port}`;
  }
}
