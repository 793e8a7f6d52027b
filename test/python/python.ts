/** Pythons with clients of PyPI that tests run, and scripts that run them. */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Versions of packages, by which a Python is told that is not the one of these tests. */
const VERSIONS =
  'import sys; from importlib.metadata import version; print(*(f"{p}=={version(p)}" for p in sys.argv[1:]))';

/** Null: there is none that has those `packages` in the versions of `requirements`. */
function pythonWith(python: string, requirements: string, packages: readonly string[]): string | null {
  const wanted = readFileSync(join(import.meta.dirname, requirements), 'utf8').split('\n');
  try {
    const asked = ['-c', VERSIONS, ...packages];
    const has = execFileSync(python, asked, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const isThere = has
      .trim()
      .split(' ')
      .every((each) => wanted.includes(each));
    return isThere ? python : null;
  } catch {
    return null;
  }
}

/** With the official clients. */
const PYTHON = pythonWith(process.env['GW_CLIENTS_PYTHON'] ?? 'python3', 'requirements.txt', [
  ...['anthropic', 'mcp', 'openai', 'websockets'],
]);
/** With the clients of others. */
export const STRANGE_PYTHON = pythonWith(
  process.env['GW_STRANGE_CLIENTS_PYTHON'] ?? 'python3',
  'strange-requirements.txt',
  ['fastmcp', 'langchain-anthropic', 'langchain-openai', 'litellm', 'pydantic-ai-slim'],
);

/** Of suites that need one: skipped where it is not there, unless nothing may be. */
const isSkipped = (python: string | null) => python === null && process.env['GW_NO_SKIP'] !== '1';
export const NO_PYTHON = isSkipped(PYTHON);
export const NO_STRANGE_PYTHON = isSkipped(STRANGE_PYTHON);

/** What the script writes on its standard output, as JSON, when it is given `asked` on its standard input. */
export function runPython<T>(script: string, asked: object, python = PYTHON): Promise<T> {
  const child = spawn(python ?? 'python3', [script], { stdio: ['pipe', 'pipe', 'pipe'] });
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
