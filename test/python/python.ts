/** A Python with the clients of PyPI that tests run, and scripts that run them. */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const PACKAGES = ['anthropic', 'mcp', 'openai', 'websockets'];

/** The versions of requirements.txt, by which a Python is told that is not the one of these tests. */
const VERSIONS = `from importlib.metadata import version; print(*(f"{p}=={version(p)}" for p in "${PACKAGES.join(' ')}".split()))`;

/** Null: there is none that has the clients of requirements.txt. */
export const PYTHON: string | null = (() => {
  const python = process.env['GW_CLIENTS_PYTHON'] ?? 'python3';
  const wanted = readFileSync(REQUIREMENTS, 'utf8').split('\n');
  try {
    const has = execFileSync(python, ['-c', VERSIONS], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const isThere = has
      .trim()
      .split(' ')
      .every((each) => wanted.includes(each));
    return isThere ? python : null;
  } catch {
    return null;
  }
})();

/** Of suites that need it: skipped where it is not there, unless nothing may be. */
export const NO_PYTHON = PYTHON === null && process.env['GW_NO_SKIP'] !== '1';

/** What the script writes on its standard output, as JSON, when it is given `asked` on its standard input. */
export function runPython<T>(script: string, asked: object): Promise<T> {
  const child = spawn(PYTHON ?? 'python3', [script], { stdio: ['pipe', 'pipe', 'pipe'] });
  let [out, said] = ['', ''];
  child.stdout.on('data', (piece) => {
    out += piece;
  });
  child.stderr.on('data', (piece) => {
    said += piece;
  });
  child.stdin.end(JSON.stringify(asked));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(JSON.parse(out) as T) : reject(new Error(said))));
  });
}
