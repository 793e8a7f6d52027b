/**
 * The language of what people read: pages, comments and messages, by Vale and the style in `styles/Gw`
 * (CONTRIBUTING.md, "Language"). Needs `vale`, on the path or where `.ci/run` installs it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'gw-tools');
const vale = ['vale', join(cache, 'vale')].find((each) => spawnSync(each, ['--version']).status === 0);

/** Pages that are generated from titles of tests, or say what was true at a time, are not judged. */
const PAGES = /^(?:README|CONTRIBUTING|SECURITY)\.md$|^(?:docs|charts|examples|gateway\/plugins)\/.*\.md$/;
const NOT_JUDGED = /^docs\/(?:conformance|decisions|public-descriptions)\.md$/;
const SOURCES = /^(?:gateway|control|operator)\/(?:src|sdk|plugins|ui|inspector)\/.*\.tsx?$/;

function files(kind: RegExp): readonly string[] {
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root });
  return `${tracked}`
    .split('\n')
    .filter((file) => kind.test(file) && !NOT_JUDGED.test(file) && !file.includes('.test.'));
}

interface Finding {
  readonly Line: number;
  readonly Check: string;
  readonly Message: string;
}

/** Returns the findings as `file:line: rule: message`. */
function findings(of: readonly string[]): readonly string[] {
  const run = spawnSync(vale ?? '', ['--output=JSON', ...of], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status !== 0 && run.status !== 1)
    throw new Error(`vale ended with ${run.status}: ${run.stderr}${run.stdout}`);
  const read: Readonly<Record<string, readonly Finding[]>> = JSON.parse(run.stdout);
  return Object.entries(read).flatMap(([file, all]) =>
    all.map(({ Line, Check, Message }) => `${file}:${Line}: ${Check}: ${Message}`),
  );
}

interface Message {
  readonly place: string;
  readonly text: string;
}

/** Texts of at least three words in the quotes of a source. */
const QUOTED = /'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;

/** Returns the messages of a source, with `X` in place of what is filled in. */
function messagesOf(file: string): readonly Message[] {
  const code = readFileSync(join(root, file), 'utf8')
    .replaceAll(/\/\*.*?\*\//gs, (comment) => comment.replaceAll(/[^\n]/g, ''))
    .replaceAll(/(^|\s)\/\/.*/g, '$1');
  return [...code.matchAll(QUOTED)].flatMap(({ 1: plain, 2: template, index }) => {
    const text = (plain ?? template ?? '').replaceAll(/\$\{[^}]*\}/g, 'X').replaceAll(/\s+/g, ' ');
    const line = code.slice(0, index).split('\n').length;
    return text.split(' ').length < 3 ? [] : [{ place: `${file}:${line}`, text }];
  });
}

/** Returns the findings in messages, each with its text. Tables have long cells: their length is not judged. */
function findingsInMessages(of: readonly string[]): readonly string[] {
  const messages = of.flatMap(messagesOf);
  const dir = mkdtempSync(join(tmpdir(), 'gw-language-'));
  try {
    const file = join(dir, 'messages.md');
    writeFileSync(file, messages.map(({ text }) => text).join('\n\n'));
    return findings([file]).flatMap((finding) => {
      const [, line = '1', rest = ''] = /^.*?messages\.md:(\d+): (.*)$/s.exec(finding) ?? [];
      const { place, text } = messages[(Number(line) - 1) / 2] ?? { place: '', text: '' };
      return rest.startsWith('Gw.SentenceLength') ? [] : [`${place}: ${rest} in: ${text.slice(0, 200)}`];
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

describe.skipIf(!vale)('language', () => {
  it.each([
    ['pages', PAGES],
    ['comments', SOURCES],
  ])('%s follow the style', (_, kind) => {
    const all = files(kind);
    expect(all.length).toBeGreaterThan(20);
    expect(findings(all)).toEqual([]);
  });

  it('messages follow the style', () => {
    const all = files(SOURCES);
    expect(all.flatMap(messagesOf).length).toBeGreaterThan(1_000);
    expect(findingsInMessages(all)).toEqual([]);
  });

  it('is judged', () => {
    const run = spawnSync(vale ?? '', ['--ext=.md', '--output=line'], {
      cwd: root,
      input: 'What is no query needs POST.\n\nA null is returned where there is one.\n',
      encoding: 'utf8',
    });
    expect(run.stdout).toMatch(/Gw\.Positive/);
    expect(run.stdout).toMatch(/Gw\.Conditions/);
  });
});
