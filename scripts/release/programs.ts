/** Programs that a release runs, with what to do if one is missing. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** How to get each program, or how to do without it. */
const TOOLS = {
  npm: 'it comes with Node.js: https://nodejs.org',
  git: 'see https://git-scm.com',
  helm: 'see https://helm.sh/docs/intro/install, or leave the charts out with --skip charts',
  docker: 'see https://docs.docker.com/engine/install, or leave the image out with --skip image',
  cosign:
    'see https://docs.sigstore.dev/cosign/system_config/installation, or go install github.com/sigstore/cosign/v3/cmd/cosign@latest',
} as const;

export type Tool = keyof typeof TOOLS;

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the program, shows what it prints, and returns what it printed. Throws an Error that says what to do. */
export async function run(tool: Tool, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return finished(tool, tool, args, options, true);
}

/** As `run`, without showing the output, unless the program fails. */
export async function ask(tool: Tool, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return finished(tool, tool, args, options, false);
}

/** Runs a script of ours with this Node.js. */
export async function runScript(script: string, args: readonly string[]): Promise<void> {
  await finished(script, process.execPath, [join(ROOT, script), ...args], {}, true);
}

function finished(
  name: Tool | string,
  file: string,
  args: readonly string[],
  { cwd = ROOT, env = {} }: RunOptions,
  shown: boolean,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let [printed, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (shown) process.stderr.write(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
      if (shown) process.stderr.write(text);
    });
    child.once('error', (error: NodeJS.ErrnoException) => reject(startError(name, error)));
    child.once('close', (code) => {
      // Helm says on stderr what it has pushed.
      if (code === 0) return resolve(printed + (shown ? errors : ''));
      const said = shown ? 'see above' : (errors || printed).trim();
      reject(new Error(`${name} ${args.slice(0, 2).join(' ')} failed: ${said}`));
    });
  });
}

function startError(name: string, error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ENOENT') return error;
  const advice = Object.entries(TOOLS).find(([tool]) => tool === name)?.[1];
  return new Error(`${name} is not installed${advice === undefined ? '' : `: ${advice}`}`);
}
