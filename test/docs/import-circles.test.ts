/** No file needs, when it is loaded, one that needs it: what is loaded first would then be a matter of luck. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const WORKSPACES = ['gateway', 'gateway/sdk', 'control', 'operator'];
const SOURCE = /^(gateway|control|operator)\/.*(?<!\.(test|bench))\.tsx?$/;
const IMPORT = /^(?:import|export)\s+(type\s)?(?:([^'";]*?)\s+from\s+)?'([^']+)'/gms;
const TYPES_ALONE = /^\{(\s*type\s[^,}]+,?)*\s*\}$/s;

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** By the name of an export, such as `@gw/gateway/turns`, its file. */
function exported(): ReadonlyMap<string, string> {
  return new Map(
    WORKSPACES.flatMap((folder) => {
      const { name, exports = {} }: { name: string; exports?: Record<string, unknown> } = JSON.parse(
        read(`${folder}/package.json`),
      );
      return Object.entries(exports).flatMap(([path, file]) =>
        typeof file === 'string' ? [[name + path.slice(1), normalize(join(folder, file))] as const] : [],
      );
    }),
  );
}

/** Files with those that they load. */
function importGraph(): ReadonlyMap<string, readonly string[]> {
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const sources = new Set(files.filter((file) => SOURCE.test(file) && !file.includes('/assembly/')));
  const packages = exported();
  return new Map(
    [...sources].map((file) => {
      const loaded = [...read(file).matchAll(IMPORT)].flatMap(([, type, names = '', from = '']) => {
        if (type !== undefined || TYPES_ALONE.test(names)) return [];
        const target = from.startsWith('.') ? normalize(join(dirname(file), from)) : packages.get(from);
        return target !== undefined && sources.has(target) ? [target] : [];
      });
      return [file, loaded];
    }),
  );
}

/** The files of the first circle that is found, in their order; none: there is none. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const way: string[] = [];
  function visit(file: string): readonly string[] {
    if (done.has(file)) return [];
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    way.push(file);
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next);
      if (circle.length > 0) return circle;
    }
    way.pop();
    done.add(file);
    return [];
  }
  for (const file of graph.keys()) {
    const circle = visit(file);
    if (circle.length > 0) return circle;
  }
  return [];
}

describe('imports', () => {
  it('go in no circle', () => {
    const graph = importGraph();
    expect(graph.size).toBeGreaterThan(800);
    expect([...graph.values()].flat().length).toBeGreaterThan(2000);
    expect(circleIn(graph)).toEqual([]);
  });

  it('would be found in one', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', []],
      ['d', ['b']],
    ]);
    expect(circleIn(graph)).toEqual(['b', 'd', 'b']);
  });
});
