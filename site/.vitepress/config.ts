/** The documentation as a site: `npm run docs`. */
import { join, posix } from 'node:path';
import type { Plugin } from 'vite';
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress';

import { FILES, pageOf, SECTIONS, titleOf } from './pages.ts';

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0];

const known: ReadonlySet<string> = new Set([...FILES, 'site/index.md']);
const linkOf = (file: string) =>
  `/${pageOf(file)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '')}`;

const menu = Object.fromEntries(
  Object.entries(SECTIONS).map(([name, sections]) => [
    name,
    sections.map(
      ({ title, files }): DefaultTheme.SidebarItem => ({
        text: title,
        collapsed: files.length > 10,
        items: files.map((file) => ({ text: titleOf(file), link: linkOf(file) })),
      }),
    ),
  ]),
);

/** Each page has the menu of its kind. */
function sidebar(): DefaultTheme.SidebarMulti {
  const byPage: DefaultTheme.SidebarMulti = {};
  for (const [name, sections] of Object.entries(SECTIONS)) {
    for (const { files } of sections) for (const file of files) byPage[linkOf(file)] = menu[name] ?? [];
  }
  return byPage;
}

/** Links between files of the repository lead to their pages; those to files that are no page become plain text. */
function linkPages(md: Markdown): void {
  md.core.ruler.push('link-pages', ({ tokens, env }) => {
    const from = posix.dirname(String(env.relativePath ?? ''));
    for (const { children } of tokens) {
      let isPlain = false;
      for (const token of children ?? []) {
        if (token.type === 'link_close' && isPlain) {
          token.tag = 'span';
          isPlain = false;
        }
        if (token.type !== 'link_open') continue;
        const href = token.attrGet('href') ?? '';
        if (href.startsWith('#') || /^[a-z]+:/.test(href)) continue;
        const [path = '', anchor] = href.split('#');
        const file = posix.join(from, decodeURI(path));
        if (file === 'README.md') token.attrSet('href', '/');
        else if (known.has(file)) token.attrSet('href', linkOf(file) + (anchor === undefined ? '' : `#${anchor}`));
        else {
          token.tag = 'span';
          token.attrs = null;
          isPlain = true;
        }
      }
    }
  });
}

/** Elements that pages write as HTML. */
const ELEMENTS = /^<(\/?(a|br|img|kbd|sub|sup|details|summary)\b|!--)/;

/** Languages of code blocks that the highlighter does not have. */
const UNCOLOURED: ReadonlySet<string> = new Set(['promql', 'pem', 'canonical']);

/** What pages say with angle brackets or double braces is text, and no component or expression of Vue. */
function keepTexts(md: Markdown): void {
  md.core.ruler.push('keep-texts', ({ tokens }) => {
    for (const block of tokens) {
      if (block.type === 'fence' && UNCOLOURED.has(block.info)) block.info = 'txt';
      for (const token of block.children ?? []) {
        if (token.type === 'html_inline' && !ELEMENTS.test(token.content)) token.type = 'text';
      }
    }
  });
  const escaped = (text: string) => md.utils.escapeHtml(text).replaceAll('{{', '&#123;&#123;');
  md.renderer.rules['text'] = (tokens, i) => escaped(tokens[i]?.content ?? '');
  md.renderer.rules['code_inline'] = (tokens, i) => `<code>${escaped(tokens[i]?.content ?? '')}</code>`;
}

/** Pages that the search leaves out. */
const UNSEARCHED: ReadonlySet<string> = new Set(['docs/conformance.md', 'docs/decisions.md', 'CHANGELOG.md']);

export default defineConfig({
  title: 'gw',
  description: 'The API gateway for Kubernetes that your API document configures',
  srcDir: '..',
  srcExclude: ['**/dist/**', 'test/**', 'examples/**', 'gateway/sdk/templates/**', 'node_modules/**', 'README.md'],
  outDir: '../dist/site',
  cacheDir: './node_modules/.cache',
  rewrites: pageOf,
  cleanUrls: true,
  // The pages stand outside this folder, and its packages are theirs.
  vite: {
    plugins: [vueOfSite()],
    // Pages are the only entries: HTML of other programs in the repository is not scanned.
    optimizeDeps: { entries: [] },
    publicDir: join(import.meta.dirname, '..', '..', 'docs', 'images'),
  },
  lastUpdated: false,
  markdown: {
    config: (md) => {
      linkPages(md);
      keepTexts(md);
    },
    // As GitHub names headings, so that anchors in the files work in both.
    anchor: { slugify },
  },
  themeConfig: {
    search: {
      provider: 'local',
      // Contributors' lists name everything, and would come before the guides.
      options: { _render: (source, env, md) => (UNSEARCHED.has(env.relativePath) ? '' : md.render(source, env)) },
    },
    outline: [2, 3],
    nav: Object.entries(SECTIONS).map(([text, [first]]) => ({ text, link: linkOf(first?.files[0] ?? '') })),
    sidebar: sidebar(),
    docFooter: { prev: 'Before', next: 'Next' },
  },
});

/** Pages stand outside this folder, where its packages are not found. */
function vueOfSite(): Plugin {
  const here = join(import.meta.dirname, 'config.ts');
  return {
    name: 'vue-of-site',
    enforce: 'pre',
    resolveId(source, _importer, options) {
      if (!/^vue($|\/)/.test(source)) return null;
      return options.ssr ? { id: source, external: true } : this.resolve(source, here, { ...options, skipSelf: true });
    },
  };
}

function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}
