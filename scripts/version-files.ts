/**
 * Writes the version of gw, which stands in package.json, wherever else it has to stand: in packages and what they depend
 * on, the lockfile, the built-in plugins, the charts' appVersion, and images that pages and examples name. Charts have
 * versions of their own (docs/decisions.md#chart-versions). It runs before the other generated files, which show it.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

interface PackageJson {
  readonly version: string;
  readonly workspaces: readonly string[];
}

const { version, workspaces }: PackageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** A pattern whose first group stands before the version, in files of a pattern. */
const PLACES: readonly (readonly [files: readonly string[], pattern: RegExp])[] = [
  [['gateway/src/version.ts'], /(VERSION = ')[^']+/],
  [workspaces.map((folder) => `${folder}/package.json`), /(^ {2}"version": ")[^"]+/m],
  [workspaces.map((folder) => `${folder}/package.json`), /("@gw\/[\w-]+": ")[^"]+/g],
  [['gateway/features/*/plugins/*/plugin.toml'], /(^version = ")[^"]+/m],
  [['charts/*/Chart.yaml'], /(^appVersion: ).+/m],
  [['README.md', 'docs/kubernetes.md', 'examples/*/*.yaml'], /(\bgw:)\d+\.\d+\.\d+(?:-[\w.]+)?/g],
  [['README.md'], /(--set image\.tag=|server: gw\/|"healthy","version":")\d+\.\d+\.\d+(?:-[\w.]+)?/g],
  [['package-lock.json'], /("name": "(?:gw-workspace|@gw\/[\w-]+)",\n\s+"version": ")[^"]+/g],
  [['package-lock.json'], /("@gw\/[\w-]+": ")\d[^"]*/g],
];

for (const [patterns, pattern] of PLACES) {
  for (const path of globSync([...patterns], { cwd: root })) {
    const file = join(root, path);
    const before = readFileSync(file, 'utf8');
    const after = before.replace(pattern, (_, beginning: string) => beginning + version);
    if (after !== before) writeFileSync(file, after);
  }
}
