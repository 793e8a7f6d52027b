/** docs/sdk.md: everything that the plugin SDK exports is described, and its examples compile. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import asc from 'assemblyscript/asc';
import { describe, expect, it } from 'vitest';
import { ASSEMBLYSCRIPT_OPTIONS } from '../../gateway/src/plugins/assemblyscript.ts';
import { readSdk, renderSdk, sdkBySubject } from '../../scripts/sdk-reference.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const modules = readSdk();
const all = modules.flatMap(({ title, exports }) => exports.map((each) => ({ title, ...each })));

describe('the reference of the plugin SDK', () => {
  it('has every name that the index exports', () => {
    const index = readFileSync(join(ROOT, 'gateway/sdk/assembly/index.ts'), 'utf8');
    const names = [...index.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list = '']) =>
      list.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()])),
    );
    expect(names.length).toBeGreaterThan(100);
    expect(new Set(all.map(({ name }) => name))).toEqual(
      new Set([...names, 'READY', 'CONTINUE', 'ANSWERED', 'HANDED_OFF', 'UNCHANGED', 'REPLACED']),
    );
    const shown = sdkBySubject().flatMap((subject) => subject.modules);
    expect(shown.map(({ file }) => file).sort()).toEqual(modules.map(({ file }) => file).sort());
    const page = renderSdk();
    for (const { name } of all) expect(page).toMatch(new RegExp(`^### ${name}\\b|^\\| \`${name}:`, 'm'));
  });

  it('describes every export and every member', () => {
    const silent = all.flatMap(({ title, name, kind, doc, members }) => [
      ...(doc?.text || (title !== '' && kind === 'namespace') ? [] : [name]),
      ...members.filter((member) => !member.doc?.text).map(({ signature }) => `${name}: ${signature}`),
    ]);
    expect(silent).toEqual([]);
  });

  it('shows every function, class and namespace by an example, and all examples compile', async () => {
    const examples = all.filter(({ kind }) => kind !== 'constant');
    expect(examples.filter(({ doc }) => !doc?.example).map(({ name }) => name)).toEqual([]);
    const members = all.flatMap(({ name, members: each }) => each.map((member) => ({ ...member, name })));
    const bodies = [...examples, ...members].flatMap(({ doc }) => (doc?.example ? [doc.example] : []));
    const source = `import { ${all.map(({ name }) => name).join(', ')} } from "@gw/plugin-sdk/assembly";
export function init(): i32 { return READY; }
${bodies.map((body, index) => `export function example${index}(): i32 {\n${body}\nreturn CONTINUE;\n}`).join('\n')}`;
    const { error, stderr } = await asc.main(
      ['assembly/index.ts', '--baseDir', ROOT, '--outFile', 'x.wasm', ...ASSEMBLYSCRIPT_OPTIONS],
      {
        readFile: (name, base) => {
          if (name === 'assembly/index.ts') return source;
          try {
            return readFileSync(join(base, name), 'utf8');
          } catch {
            return null;
          }
        },
        writeFile: () => {},
        listFiles: () => [],
      },
    );
    // Warnings are about the widths of pointers.
    expect(error === null ? '' : stderr.toString()).toBe('');
  });
});
