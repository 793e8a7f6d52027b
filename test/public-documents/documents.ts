/**
 * Public API descriptions that gw is tried with, by repository, commit and hash: the documents themselves are not kept
 * here. A description is compiled as it is, each operation answered by `mock`.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { compile } from '../../gateway/src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import listed from './documents.json' with { type: 'json' };
import mocked from './mocked.json' with { type: 'json' };

/** A file in a public repository. */
interface PublicFile {
  readonly name: string;
  /** On GitHub. */
  readonly repository: string;
  readonly commit: string;
  readonly path: string;
  /** Of the file, hex. */
  readonly sha256: string;
}

export interface PublicDocument extends PublicFile {
  /** Operations served; null if the description is refused. */
  readonly operations: number | null;
  /** Diagnostics by code. */
  readonly codes: Readonly<Record<string, number>>;
  /** What the errors are, or what the warnings are about. */
  readonly says: string;
}

/** A description as `gw dev DOCUMENT --mock` serves it. */
export interface MockedDocument extends PublicFile {
  /** Operations that are answered; null if the description cannot be read. */
  readonly operations: number | null;
  readonly leftOut: number;
  /** Reasons why operations are left out. */
  readonly says: string;
}

export const publicDocuments: readonly PublicDocument[] = listed;
export const mockedDocuments: readonly MockedDocument[] = mocked;

/** The file in a folder of checkouts, `OWNER/NAME/…`; null if it is not there. */
export function fileIn(folder: string, { repository, path }: PublicFile): string | null {
  const file = join(folder, repository, path);
  return existsSync(file) ? file : null;
}

export function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** What the compiler makes of a description with all files beside it. */
export async function verdictOf(
  folder: string,
  { name, repository, path }: PublicDocument,
): Promise<Pick<PublicDocument, 'operations' | 'codes'>> {
  const root = join(folder, repository);
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((each) => /\.(json|ya?ml)$/.test(each));
  const files = names.map((each) => ({
    name: each,
    get bytes() {
      return readFileSync(join(root, each));
    },
  }));
  // A spec may not be named `openapi`: this is where it is renamed.
  const isNamed = /(^|\/)(openapi|asyncapi)\.[a-z]+$/.test(path);
  const spec = isNamed ? path.replace(/[^/]+$/, `${name}${extname(path)}`) : path;
  if (isNamed) files.push({ name: spec, bytes: readFileSync(join(root, path)) });
  const project = { specs: [spec], files, plugins: [loadBuiltinPlugin('mock')], flags: { mock: true } };
  const result = await compile(project);
  const codes: Record<string, number> = {};
  for (const { code } of result.diagnostics) codes[code] = (codes[code] ?? 0) + 1;
  return { operations: result.ok ? result.manifest.routes_count : null, codes };
}

export function renderPublicDocuments(): string {
  const rows = publicDocuments.map((document) => {
    const { operations, codes, says } = document;
    const counts = Object.entries(codes).map(([code, count]) => `${count} × ${code}`);
    const verdict = operations === null ? 'refused' : 'compiles';
    const what = [counts.join(', '), says].filter((each) => each !== '').join(': ');
    return `| ${linkTo(document)} | ${operations ?? ''} | ${verdict} | ${what} |`;
  });
  const others = mockedDocuments.map((document) => {
    const { operations, leftOut, says } = document;
    return `| ${linkTo(document)} | ${operations ?? 'refused'} | ${leftOut === 0 ? '' : leftOut} | ${says} |`;
  });
  return `${HEAD}\n${rows.join('\n')}\n${MOCKED}\n${others.join('\n')}\n`;
}

function linkTo({ name, repository, commit, path }: PublicFile): string {
  return `[${name}](https://github.com/${repository}/blob/${commit}/${path})`;
}

const HEAD = `# Public descriptions

Generated from \`test/public-documents/documents.json\` by \`npm run generate\`. ${publicDocuments.length} public API
descriptions, compiled as they are with a mock for each operation (\`gw dev --mock --spec\`);
[what the codes mean](error-codes.md). Files that are named \`openapi\` are renamed.
\`test/public-documents/public-documents.test.ts\` compares the table if \`GW_PUBLIC_DOCUMENTS\` names a folder of
checkouts, \`OWNER/NAME\`, at these commits; files with another SHA-256 are not compared.

| description | operations | verdict | what the compiler says |
|---|---|---|---|`;

const MOCKED = `
## Served without an edit

Generated from \`test/public-documents/mocked.json\`. ${mockedDocuments.length} other descriptions, as
\`gw dev DOCUMENT --mock\` serves them: the operations that it answers with examples, and those that it leaves out.
\`test/public-documents/mocked-documents.test.ts\` serves them again.

| description | operations | left out | reason |
|---|---|---|---|`;
