/**
 * What code, tests and pages cite is there: pages and their anchors, relative links of Markdown, and the files that
 * CONTRIBUTING.md names. An anchor is an explicit `<a id>` or a heading in GitHub's spelling.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Not ours to write, or no text. */
const FOREIGN = /^(package-lock\.json|LICENSE|test\/json-schema\/suite\/)|\.(png|tgz|wasm|ico|gz)$/;

const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, maxBuffer: 1 << 26 });
const files = listed
  .toString()
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(root, file)));

const texts = new Map(
  files.filter((file) => !FOREIGN.test(file)).map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);

const anchorsOf = new Map<string, ReadonlySet<string>>();

/** Anchors of a page; none where it is no Markdown. */
function anchors(page: string): ReadonlySet<string> {
  let found = anchorsOf.get(page);
  if (!found) {
    const text = (texts.get(page) ?? '').replace(/^```.*?^```/gms, '');
    const ids = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slug(heading));
    found = new Set([...ids, ...headings]);
    anchorsOf.set(page, found);
  }
  return found;
}

function slug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** Why the target is none; null where it is one. */
function fault(path: string, anchor: string | undefined): string | null {
  if (!texts.has(path)) return existsSync(join(root, path)) ? null : `${path} does not exist`;
  if (anchor === undefined || !path.endsWith('.md') || anchors(path).has(anchor)) return null;
  return `${path} has no anchor "${anchor}"`;
}

/** Lines of all files, with where they are. */
function* lines(): Generator<{ readonly file: string; readonly at: string; readonly line: string }> {
  for (const [file, text] of texts) {
    for (const [i, line] of text.split('\n').entries()) yield { file, at: `${file}:${i + 1}`, line };
  }
}

/** A comment breaks lines behind commas and blanks only, so each target stands in one. */
const TARGET = /(?<![\w/.-])(docs\/[\w./-]*?\.md)(?:#([\w-]+))?/g;
const LINK = /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g;

describe('citations', () => {
  it('lead to pages and anchors that exist', () => {
    const faults: string[] = [];
    let number = 0;
    for (const { at, line } of lines()) {
      for (const [, path = '', anchor] of line.matchAll(TARGET)) {
        number++;
        const found = fault(path, anchor);
        if (found) faults.push(`${at}: ${found}`);
      }
    }
    expect(faults).toEqual([]);
    expect(number).toBeGreaterThan(500);
  });

  it('have no form that a reader could not follow', () => {
    const OLD = [
      /\breference [123]\b/,
      /(?<![\w+/={])D[1-9]\d?(?![\w+/=-])/,
      /\(design[,:; ]|\bdesign,? sections? \d/,
      /\bdecision \d/i,
    ];
    /** A section is one of a document that the file names. */
    const SECTION = /[(;] ?sections? \d|\bSection \d+\.\d/;
    const STANDARD = /RFC \d|OpenAPI|JSON Schema|ECMA-262|WHATWG|Fetch standard|semver\.org|OpenID/;
    const found: string[] = [];
    for (const { file, at, line } of lines()) {
      if (OLD.some((form) => form.test(line))) found.push(`${at}: ${line.trim()}`);
      else if (SECTION.test(line) && !STANDARD.test(texts.get(file) ?? '')) found.push(`${at}: ${line.trim()}`);
    }
    expect(found).toEqual([]);
  });
});

describe('pages', () => {
  it('link to files and anchors that exist', () => {
    const faults: string[] = [];
    for (const [file, text] of texts) {
      if (!file.endsWith('.md')) continue;
      const prose = text
        .replace(/^```.*?^```/gms, (block) => block.replaceAll(/[^\n]/g, ''))
        .replaceAll(/`[^`\n]*`/g, '``');
      for (const [i, line] of prose.split('\n').entries()) {
        for (const [, path = '', anchor] of line.matchAll(LINK)) {
          const target = path === '' ? file : posix.normalize(posix.join(posix.dirname(file), decodeURI(path)));
          const found = fault(target.replace(/\/$/, ''), anchor);
          if (found) faults.push(`${file}:${i + 1}: ${found}`);
        }
      }
    }
    expect(faults).toEqual([]);
  });

  it('are all in the index of the reference', () => {
    const index = texts.get('docs/reference/README.md') ?? '';
    const missing = files.filter((file) => {
      if (!/^docs\/[^/]+\.md$|^docs\/reference\/[^/]+\.md$/.test(file) || file === 'docs/reference/README.md')
        return false;
      return !index.includes(`(${posix.relative('docs/reference', file)})`);
    });
    expect(missing).toEqual([]);
  });

  it('name files that exist where a newcomer looks for them', () => {
    const named = [...(texts.get('CONTRIBUTING.md') ?? '').matchAll(/`([\w.@/-]+(?:\.(?:ts|md|toml|json|yaml)|\/))`/g)];
    const missing = named
      .map(([, name = '']) => name)
      .filter((name) => !name.startsWith('/') && !files.some((file) => isNamed(file, name)));
    expect(named.length).toBeGreaterThan(100);
    expect([...new Set(missing)]).toEqual([]);
  });
});

/** `hooks.ts` names any file of that name, `wasm/host/` any folder. */
function isNamed(file: string, name: string): boolean {
  return name.endsWith('/') ? `/${file}`.includes(`/${name}`) : `/${file}`.endsWith(`/${name}`);
}

describe('decisions', () => {
  const text = texts.get('docs/decisions.md') ?? '';
  const entries = [...text.matchAll(/^<a id="([a-z0-9-]+)"><\/a>\*\*(\d+)\. .+?\*\* \((\d{4}-\d\d-\d\d)\)\. \S/gm)];
  const rows = [...text.matchAll(/^\| (\d+) \| .+? \| \d{4}-\d\d-\d\d \|/gm)];

  it('have each a number and an anchor of their own, and a date', () => {
    const numbers = [...entries.map(([, , number]) => number), ...rows.map(([, number]) => number)];
    expect(new Set(numbers).size).toBe(numbers.length);
    const ids = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    // No entry of another form.
    expect(entries.length).toBe((text.match(/^<a id="[^"]+"><\/a>\*\*/gm) ?? []).length);
    expect(entries.length).toBeGreaterThan(200);
  });
});
