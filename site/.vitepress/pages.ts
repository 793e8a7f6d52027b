/** The pages of the site, which are files of the repository: where each is read, and where it stands in the menus. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '..', '..');

/** A title and the files below it, in the order of reading. */
export interface Section {
  readonly title: string;
  readonly files: readonly string[];
}

const doc = (...names: readonly string[]) => names.map((name) => `docs/${name}.md`);
const plugins = globSync('gateway/features/*/plugins/*/README.md', { cwd: REPOSITORY }).sort((a, b) =>
  pageOf(a).localeCompare(pageOf(b)),
);

/** By kind, as https://diataxis.fr names them. */
export const SECTIONS: Readonly<Record<string, readonly Section[]>> = {
  Tutorials: [{ title: 'Tutorials', files: doc('tutorials/your-document', 'plugin-guide', 'kubernetes') }],
  Guides: [
    { title: 'Describe and compile', files: doc('compiling', 'validation', 'http') },
    { title: 'AI and agents', files: doc('ai', 'ai-models', 'ai-clients', 'mcp') },
    { title: 'On Kubernetes', files: doc('rollouts', 'gitops', 'sidecars', 'sources', 'webhooks', 'pods', 'charts') },
    { title: 'With the control plane', files: doc('control-plane', 'console', 'storage', 'data-plane-protocol') },
    { title: 'Operate', files: doc('production', 'upstreams', 'waf', 'scaling', 'observability', 'performance') },
  ],
  Reference: [
    {
      title: 'Rules',
      files: doc(
        'reference/README',
        'reference/gateway',
        'reference/plugins',
        'reference/control-plane',
        'reference/kinds',
        'reference/cli',
      ),
    },
    { title: 'Command lines', files: doc('cli', 'control-cli', 'operator-cli', 'serve-options') },
    {
      title: 'Lists',
      files: doc(
        'common-mistakes',
        'error-codes',
        'problems',
        'metrics',
        'control-metrics',
        'shared-limits',
        'crds',
        'artifact',
        'packages',
        'public-descriptions',
      ),
    },
    { title: 'Plugins', files: [...doc('plugins'), ...plugins] },
    { title: 'Plugin interface', files: [...doc('sdk', 'host-functions'), 'gateway/sdk/ABI.md'] },
    { title: 'Charts', files: globSync('charts/*/README.md', { cwd: REPOSITORY }).sort() },
  ],
  Background: [
    {
      title: 'Why gw',
      files: doc(
        'comparison',
        'coming-from/kong',
        'coming-from/envoy-gateway',
        'coming-from/tyk',
        'coming-from/krakend',
        'coming-from/apisix',
      ),
    },
    { title: 'Security', files: [...doc('threat-model'), 'SECURITY.md'] },
    { title: 'Words', files: doc('glossary') },
  ],
  Contributors: [
    {
      title: 'Contributors',
      files: ['CONTRIBUTING.md', ...doc('releasing', 'decisions', 'conformance'), 'CHANGELOG.md'],
    },
  ],
};

export const FILES: readonly string[] = Object.values(SECTIONS).flatMap((sections) =>
  sections.flatMap(({ files }) => files),
);

/** Where a file of the repository is read: `docs/mcp.md` as `mcp.md`, and READMEs of folders by the folder's name. */
export function pageOf(file: string): string {
  if (file === 'site/index.md') return 'index.md';
  if (file === 'docs/reference/README.md') return 'reference/index.md';
  const [, plugin] = /^gateway\/features\/[^/]+\/plugins\/([^/]+)\/README\.md$/.exec(file) ?? [];
  if (plugin !== undefined) return `plugins/${plugin}.md`;
  const [, chart] = /^charts\/([^/]+)\/README\.md$/.exec(file) ?? [];
  if (chart !== undefined) return `charts/${chart}.md`;
  if (file === 'gateway/sdk/ABI.md') return 'plugins/abi.md';
  return file.replace(/^docs\//, '').toLowerCase();
}

/** What the file's first heading says. */
export function titleOf(file: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(join(REPOSITORY, file), 'utf8')) ?? [];
  return (title ?? file).replaceAll('`', '');
}
