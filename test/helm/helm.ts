/** Charts as helm renders them. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { execute } from '../e2e/kubectl.ts';

export const root = join(import.meta.dirname, '..', '..');
export const charts = join(root, 'charts');
export const hasHelm = spawnSync('helm', ['version'], { stdio: 'ignore' }).status === 0;
/** For the title of a suite that needs it. */
export const withoutHelm = hasHelm ? '' : ' (skipped: helm is not installed)';

/** The version that templates see: the cluster's, where none is asked. */
const KUBE_VERSION = '1.34';

export type Manifest = { readonly [name: string]: unknown };

/** Values files of a chart that show what it can be: charts/NAME/ci. */
export function valuesFiles(chart: string): readonly string[] {
  return readdirSync(join(charts, chart, 'ci')).toSorted();
}

export function fromValues(chart: string, file: string): readonly string[] {
  return ['--values', join(charts, chart, 'ci', file)];
}

/** The text of `helm template`; `options` are helm's, such as `--set`, `a=b`. Rejects with what helm says. */
export function renderText(chart: string, ...options: readonly string[]): Promise<string> {
  const release = ['template', `gw-${chart}`, join(charts, chart), '-n', 'gw-system', '--kube-version', KUBE_VERSION];
  return execute('helm', [...release, ...options]);
}

export async function render(chart: string, ...options: readonly string[]): Promise<readonly Manifest[]> {
  return parseManifests(await renderText(chart, ...options));
}

/** Throws where the text is no YAML, or names a key twice. */
export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS();
    })
    .filter(isRecord);
}

export function ofKind(objects: readonly Manifest[], kind: string): readonly Manifest[] {
  return objects.filter((object) => object['kind'] === kind);
}

/** What stands at a path of names and indexes, such as `spec.template.spec.containers.0`. */
export function at(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split('.')) {
    if (Array.isArray(value)) value = value[Number(name)];
    else value = isRecord(value) ? value[name] : undefined;
  }
  return value;
}
