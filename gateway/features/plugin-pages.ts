/**
 * Sections and rows about built-in plugins in README.md, docs/plugins.md and docs/reference/plugins.md, made from
 * `plugin-list.ts` and from the first paragraph of the plugin's own README.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { PLUGIN_GROUPS, type PluginGroup } from './plugin-list.ts';

const root = join(import.meta.dirname, '../..');
const LINK = /(\]\()([^)\s#]*)(#[^)]*)?\)/g;

/** Folders of the built-in plugins by name, from the root of the repository. Throws if the list lacks one. */
const folders = new Map(
  globSync('gateway/features/*/plugins/*/plugin.toml', { cwd: root })
    .sort()
    .map((file) => [basename(dirname(file)), dirname(file)]),
);
const listed = new Set(PLUGIN_GROUPS.flatMap(({ plugins }) => plugins));
for (const name of folders.keys()) {
  if (!listed.has(name)) throw new Error(`list ${name} in gateway/features/plugin-list.ts, under its purpose`);
}

/** Rows of the table in the README. */
export function renderPluginNames(): string {
  const rows = PLUGIN_GROUPS.map(({ purpose, plugins }) => row(purpose, plugins, (name) => `\`${name}\``));
  return `| | |\n|---|---|\n${rows.join('')}`;
}

/** Rows of the table in docs/plugins.md, whose names are links. */
export function renderPluginLinks(): string {
  const rows = PLUGIN_GROUPS.map(({ purpose, plugins }) =>
    row(purpose, plugins, (name) => readmeLink(name, name, 'docs')),
  );
  return `| purpose | plugins |\n| --- | --- |\n${rows.join('')}`;
}

/** Sections of docs/reference/plugins.md about the plugins of a purpose. */
export function renderPluginSections(purpose: string): string {
  const group = PLUGIN_GROUPS.find((each) => each.purpose === purpose) as PluginGroup;
  return group.plugins
    .map((name) => {
      const readme = readmeLink('README', name, 'docs/reference');
      return `\n<a id="${name}"></a>\n### ${name}\n\n${summaryOf(name)} ${readme}.\n`;
    })
    .join('');
}

function row(purpose: string, plugins: readonly string[], shown: (name: string) => string): string {
  return `| ${purpose} | ${plugins.map(shown).join(', ')} |\n`;
}

/** Returns the first paragraph of its README, with links as from `docs/reference/`. */
function summaryOf(name: string): string {
  const folder = folderOf(name);
  const [, paragraph] = readFileSync(join(root, folder, 'README.md'), 'utf8').split(/\n{2,}/);
  if (paragraph === undefined) throw new Error(`${folder}/README.md has no paragraph below its title`);
  return paragraph.trim().replace(LINK, (link, open: string, path: string, anchor = '') => {
    if (path.includes('://')) return link;
    const plugin = /^\.\.\/(?:\.\.\/\.\.\/\w+\/plugins\/)?([\w-]+)\/README\.md$/.exec(path)?.[1];
    if (plugin !== undefined && anchor === '') return `${open}#${plugin})`;
    const target = posix.join(folder, path === '' ? 'README.md' : path);
    return `${open}${posix.relative('docs/reference', target)}${anchor})`;
  });
}

function readmeLink(text: string, name: string, from: string): string {
  return `[${text}](${posix.relative(from, `${folderOf(name)}/README.md`)})`;
}

function folderOf(name: string): string {
  const folder = folders.get(name);
  if (folder === undefined) throw new Error(`gateway/features/plugin-list.ts names ${name}, which has no folder`);
  return folder;
}
