/**
 * How much of each workspace's code the tests run, in all processes that they start on this machine: `npm run coverage`
 * runs the tests (arguments go to vitest) and prints a row a workspace. Both run with Node.js' own stripping of types,
 * which keeps each character where it is in the source, so that no source map is needed. Processes that a signal ends
 * without a handler, code in pods, and plugins' WebAssembly are not seen.
 */
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '..');
const WORKSPACES = ['gateway', 'control', 'operator'] as const;
const SOURCES = ['gateway/src', 'gateway/sdk/testing', 'control/src', 'operator/src'];
/** For vitest: modules as Node.js loads them. */
export const COVERAGE_OPTIONS = ['--experimental.viteModuleRunner=false', '--experimental.nodeLoader=false'];
const COMMENT = /^\s*(\/\/|\/?\*)/;

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Dump {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Range[] }[];
  }[];
}

interface Coverage {
  readonly workspace: string;
  readonly lines: number;
  readonly covered: number;
}

/** Prints what `tests` cover, which run with the folder as NODE_V8_COVERAGE; resolves to their exit code. */
export async function coverage(tests: (folder: string) => Promise<number>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-coverage-'));
  try {
    const code = await tests(folder);
    for (const { workspace, lines, covered } of readCoverage(folder)) {
      const percent = ((100 * covered) / lines).toFixed(2);
      console.log(`${workspace.padEnd(10)} ${percent.padStart(6)} %  ${covered} of ${lines} lines`);
    }
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of the dumps in a folder, by workspace. A line counts as covered where any part of it has run. */
function readCoverage(folder: string): Coverage[] {
  const files = new Map(
    SOURCES.flatMap(sourcesBelow).map((file) => [pathToFileURL(join(ROOT, file)).href, read(file)]),
  );
  for (const name of readdirSync(folder)) {
    for (const { url, functions } of parse(join(folder, name)).result) {
      const file = files.get(url);
      if (file) paint(file.ran, functions);
    }
  }
  return WORKSPACES.map((workspace) => {
    const own = [...files.values()].filter(({ path }) => path.startsWith(`${workspace}/`));
    const lines = own.flatMap(({ text, ran }) => codeLines(text).map(({ start, end }) => ran.subarray(start, end)));
    return { workspace, lines: lines.length, covered: lines.filter((line) => line.includes(1)).length };
  });
}

function sourcesBelow(folder: string): string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: ROOT }).filter(
    (file) => !/\.(test|bench|test-support)\.ts$|\.d\.ts$/.test(file),
  );
}

function read(path: string) {
  const text = stripTypeScriptTypes(readFileSync(join(ROOT, path), 'utf8'));
  return { path, text, ran: new Uint8Array(text.length) };
}

/** A process that was killed while it wrote has left a part of a file. */
function parse(file: string): Dump {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { result: [] };
  }
}

/** Inner ranges say how often their part has run, outer ones how often the rest has. */
function paint(ran: Uint8Array, functions: Dump['result'][number]['functions']): void {
  const ranges = functions.flatMap((each) => each.ranges);
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const now = new Uint8Array(ran.length);
  for (const { startOffset, endOffset, count } of ranges) now.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  for (let at = 0; at < now.length; at++) if (now[at]) ran[at] = 1;
}

/** Lines that hold more than a comment once types are gone, without the white space around them. */
function codeLines(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const start = at + line.indexOf(trimmed);
    if (trimmed !== '' && !COMMENT.test(line)) found.push({ start, end: start + trimmed.length });
    at += line.length + 1;
  }
  return found;
}
