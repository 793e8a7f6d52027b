/** A real `gw serve` process for tests: compiles a project, starts it on free ports, collects its log. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CompileOptions, compile, type Project, type ProjectPlugin } from '../../gateway/src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { type LoggingProcess, type LogLine, loggingProcess } from '../logging-process.ts';
import { GW } from '../programs/gw.ts';
import { programEnv } from '../programs/program.ts';

export type { LogLine };

export interface Gateway extends LoggingProcess {
  readonly url: string;
  readonly admin: string;
}

export interface GatewayOptions {
  readonly args?: readonly string[];
  /** Options that open it to upstreams. Default: plaintext ones on 127.0.0.1. */
  readonly egress?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The program. Default: `gw` of test/programs. */
  readonly main?: string;
  /** What its command is put behind, such as `ip netns exec NAME`. Default: nothing. */
  readonly within?: readonly string[];
  /** Hundreds of connections hold it up together, which is no request's fault. Default false. */
  readonly isCrowded?: boolean;
}

/** The artifact of an OpenAPI document with built-in plugins and, by name, others. Throws with the diagnostics. */
export async function compileSpec(
  document: object,
  builtin: readonly string[],
  others: readonly ProjectPlugin[] = [],
  options: CompileOptions = {},
  more: Partial<Project> = {},
): Promise<Uint8Array> {
  const project: Project = {
    specs: ['api.json'],
    files: [{ name: 'api.json', bytes: Buffer.from(JSON.stringify(document)) }],
    plugins: [...builtin.map((name) => loadBuiltinPlugin(name)), ...others],
    flags: { allowPlaintext: true, sourceDateEpoch: 0 },
    ...more,
  };
  const result = await compile(project, options);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics, null, 2));
  return result.artifact;
}

/** `artifact`: what `--artifact` names; null without that option. */
export async function startGateway(artifact: Uint8Array | null, options: GatewayOptions = {}): Promise<Gateway> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-serve-'));
  const file = join(dir, 'api.gwa');
  if (artifact !== null) writeFileSync(file, artifact);
  const [program = process.execPath, ...prefix] = [...(options.within ?? []), process.execPath];
  const child = spawn(
    program,
    [
      ...[...prefix, options.main ?? GW, 'serve', '--listen', '127.0.0.1:0', '--admin-bind', '127.0.0.1:0'],
      ...(artifact === null ? [] : ['--artifact', file]),
      ...(options.egress ?? ['--allow-plaintext-upstream', '--egress-allow', '127.0.0.1']),
      ...(options.args ?? []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...programEnv(), ...options.env } },
  );
  const started = loggingProcess(child, 'gw serve');
  void started.exited.then(() => rmSync(dir, { recursive: true, force: true }));
  const serving = await started.logged(({ msg }) => msg === 'serving');
  const stop = async () => {
    const code = await started.stop();
    if (options.isCrowded !== true) notHeldUp(started.log);
    return code;
  };
  return { ...started, stop, url: `http://${serving['listen']}`, admin: `http://${serving['admin']}` };
}

/** CPU milliseconds of the thread in one stretch of a request that fail its test. */
const MOST_CPU_MS = 250;

/** Throws if the data of one request has held up all others for long. */
function notHeldUp(log: readonly LogLine[]): void {
  const held = log.find(({ msg, phase, cpu_ms: cpuMs }) => {
    return msg === 'the event loop was held up' && phase !== undefined && Number(cpuMs) > MOST_CPU_MS;
  });
  if (held) throw new Error(`a request has held up the gateway: ${JSON.stringify(held)}`);
}

/** Runs `work` beside a gateway, which ends well after it. */
export async function withGateway(
  artifact: Uint8Array,
  args: readonly string[],
  work: (gw: Gateway) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const gw = await startGateway(artifact, { args, env });
  let code: number | null = null;
  try {
    await work(gw);
  } finally {
    code = await gw.stop();
  }
  if (code !== 0) throw new Error(`gw serve ended with ${code}`);
}

/** Runs `gw serve` where it must not come up: its exit code and what it said. */
export async function refusedStart(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [GW, 'serve', ...args], { env: { ...programEnv(), ...env } });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const code = await new Promise<number>((resolve) => child.once('close', (each) => resolve(each ?? -1)));
  return { code, stderr };
}

/** The JSON of an answer, in the shape that the test expects of it. */
export async function jsonOf<T = Record<string, unknown>>(response: Response): Promise<T> {
  const value: unknown = await response.json();
  return value as T;
}

/** What the upstreams of tests echo. */
export interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
