/** Diagnostics of local mode at the file and line that people edit: a document within a manifest, or the manifest itself. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pointerTokens } from '@gw/gateway/spec';
import { type Document, isNode, isScalar, LineCounter, parseAllDocuments, Scalar } from 'yaml';
import type { GatewayProject } from '../api/resources.ts';
import type { StatusDiagnostic } from '../api/shared.ts';
import { isRecord } from '../kube/kube-object.ts';
import { DEFAULT_NAMESPACE } from './manifests.ts';

interface Manifest {
  /** From the working directory. */
  readonly path: string;
  readonly text: string;
  readonly counter: LineCounter;
  readonly document: Document.Parsed;
  /** Keys that lead to the object in the document. */
  readonly keys: readonly (string | number)[];
  readonly value: Readonly<Record<string, unknown>>;
}

interface Spot {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The same diagnostics; those whose source is no file of the folder as they are. `files`: names in the folder. */
export function placedInManifests(
  dir: string,
  files: readonly string[],
  project: GatewayProject,
  diagnostics: readonly StatusDiagnostic[],
): readonly StatusDiagnostic[] {
  if (diagnostics.length === 0) return diagnostics;
  const manifests = files.flatMap((name) => manifestsOf(join(dir, name)));
  const { namespace = DEFAULT_NAMESPACE } = project.metadata;
  const find = (kind: string, name: string) =>
    manifests.find(({ value }) => {
      const metadata = isRecord(value['metadata']) ? value['metadata'] : {};
      const isThere = (metadata['namespace'] ?? DEFAULT_NAMESPACE) === namespace && metadata['name'] === name;
      return value['kind'] === kind && isThere;
    });
  return diagnostics.map((diagnostic) => {
    const spot = diagnostic.apiSpec === undefined ? ofProject(diagnostic, project, find) : ofDocument(diagnostic, find);
    if (spot === null) return diagnostic;
    const { apiSpec: _, ...rest } = diagnostic;
    return { ...rest, ...spot };
  });
}

type Find = (kind: string, name: string) => Manifest | undefined;

/** Files that have gone, or do not parse any more, have nothing to cite. */
function manifestsOf(path: string): readonly Manifest[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return [];
  }
  const counter = new LineCounter();
  return [...parseAllDocuments(text, { lineCounter: counter })].flatMap((document): Manifest[] => {
    if (!('contents' in document) || document.errors.length > 0) return [];
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (!isRecord(value)) return [];
    const manifest = { path, text, counter, document };
    if (value['kind'] !== 'List' || !Array.isArray(value['items'])) return [{ ...manifest, keys: [], value }];
    return value['items'].flatMap((item, i) =>
      isRecord(item) ? [{ ...manifest, keys: ['items', i], value: item }] : [],
    );
  });
}

function ofDocument({ apiSpec = '', file = '', line, column }: StatusDiagnostic, find: Find): Spot | null {
  const manifest = find('ApiSpec', apiSpec);
  const source = manifest?.document.getIn([...manifest.keys, 'spec', 'source']);
  const inline = manifest?.document.getIn([...manifest.keys, 'spec', 'source', 'inline'], true);
  if (!manifest || source === undefined) return null;
  if (isScalar(inline)) return within(manifest, inline, line, column);
  const name = manifest.document.getIn([...manifest.keys, 'spec', 'source', 'configMap', 'name']);
  const key = manifest.document.getIn([...manifest.keys, 'spec', 'source', 'configMap', 'key']);
  const map = typeof name === 'string' ? find('ConfigMap', name) : undefined;
  const text = [file, key]
    .map((each) => map?.document.getIn([...map.keys, 'data', each], true))
    .find((each) => isScalar(each));
  return map && text ? within(map, text, line, column) : null;
}

/** A place in a text that is written as a block, line by line; else the beginning of the text. */
function within({ path, text, counter }: Manifest, node: Scalar, line = 1, column = 1): Spot | null {
  const offset = node.range?.[0];
  if (offset === undefined) return null;
  const start = counter.linePos(offset);
  if (node.type !== Scalar.BLOCK_LITERAL) return { file: path, line: start.line, column: start.col };
  const lines = text.split('\n');
  const first = lines.slice(start.line).find((each) => each.trim() !== '') ?? '';
  const content =
    String(node.value)
      .split('\n')
      .find((each) => each.trim() !== '') ?? '';
  return { file: path, line: start.line + line, column: column + indentOf(first) - indentOf(content) };
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** Place of a setting of the project: the pointer is that of a manifest of `gw` (`Project.manifest`). */
function ofProject(
  { file, pointer = '' }: StatusDiagnostic,
  { metadata, spec }: GatewayProject,
  find: Find,
): Spot | null {
  const manifest = file === `GatewayProject ${metadata.name}` ? find('GatewayProject', metadata.name) : undefined;
  if (!manifest) return null;
  const [part = '', name = '', ...rest] = pointerTokens(pointer) ?? [];
  const index = (spec.plugins ?? []).findIndex((plugin) => plugin.name === name);
  const keys = part === 'plugins' ? ['spec', part, index, ...rest] : ['spec', part, name, ...rest];
  let offset = 0;
  for (let i = 1; i <= keys.length; i++) {
    const node = manifest.document.getIn([...manifest.keys, ...keys.slice(0, i)], true);
    if (isNode(node) && node.range) [offset] = node.range;
  }
  const { line, col } = manifest.counter.linePos(offset);
  return { file: manifest.path, line, column: col };
}
