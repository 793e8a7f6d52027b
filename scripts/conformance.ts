/** `docs/conformance.md`: the rules of all workspaces and features, which stand in a `rules.md` beside their code. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const root = join(import.meta.dirname, '..');
const INTRODUCTION = `# Conformance

Each rule of the [reference](reference/README.md) that is built, with the test that shows it: file, then part of its title. CI fails where a named test is missing. What is not here is not built. \`npm run generate\` writes this page from the \`rules.md\` of each workspace and feature.
`;
const LINK = /(\]\()([^)\s#]+)((?:#[^)]*)?\))/g;

export function renderConformance(): string {
  const features = globSync('gateway/features/*/rules.md', { cwd: root }).sort();
  return [INTRODUCTION, ...['gateway/rules.md', ...features, 'operator/rules.md', 'control/rules.md'].map(sectionsOf)]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

/** Returns what follows the introduction of a file, with its links as from `docs/`. */
function sectionsOf(file: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  return text.slice(text.indexOf('## ')).replace(LINK, (link, open: string, path: string, close: string) => {
    if (path.includes('://')) return link;
    return `${open}${posix.relative('docs', posix.join(dirname(file), path))}${close}`;
  });
}
