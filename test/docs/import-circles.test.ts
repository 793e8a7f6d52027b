/**
 * No file needs one that needs it, neither for values nor for types, and no folder: else neither can be read, moved or
 * tested by itself, and which file is loaded first is a matter of luck.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const WORKSPACES = ['gateway', 'gateway/sdk', 'control', 'operator'];
const SOURCE = /^(gateway|control|operator)\/.*(?<!\.(test|bench|test-support))\.tsx?$/;
const IMPORT = /^(?:import|export)\s+(?:[^'";]*?\s+from\s+)?'([^']+)'/gms;

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

type Graph = ReadonlyMap<string, readonly string[]>;

/** Files of all workspaces with those that they import, values or types. */
function importGraph(): Graph {
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const sources = new Set(files.filter((file) => SOURCE.test(file) && !file.includes('/assembly/')));
  const packages = exported();
  return new Map(
    [...sources].map((file) => {
      const imported = [...read(file).matchAll(IMPORT)].flatMap(([, from = '']) => {
        const target = from.startsWith('.') ? normalize(join(dirname(file), from)) : packages.get(from);
        return target !== undefined && sources.has(target) ? [target] : [];
      });
      return [file, imported];
    }),
  );
}

/** Folders with those that their files import from. */
function folderGraph(files: Graph): Graph {
  const folders = new Map<string, Set<string>>();
  for (const [file, imported] of files) {
    const folder = roomOf(file);
    const others = imported.map(roomOf).filter((other) => other !== folder);
    folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others]));
  }
  return new Map([...folders].map(([folder, others]) => [folder, [...others]]));
}

/** Its folder; a file at the top of a workspace is by itself, since what starts everything lies beside what all use. */
function roomOf(file: string): string {
  return /^\w+\/(src|features)\/[^/]+$/.test(file) ? file : dirname(file);
}

/** Sorted: those that are reached from themselves. */
function inCircles(graph: Graph): readonly string[] {
  return [...graph.keys()].filter((node) => reached(graph, node).has(node)).toSorted();
}

function reached(graph: Graph, from: string): ReadonlySet<string> {
  const found = new Set<string>();
  const left = [from];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    for (const next of graph.get(node) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      left.push(next);
    }
  }
  return found;
}

/** The files of the first circle that is found, in their order; none: there is none. */
function circleIn(graph: Graph): readonly string[] {
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
  it('go in no circle of files', () => {
    const graph = importGraph();
    expect(graph.size).toBeGreaterThan(1000);
    expect([...graph.values()].flat().length).toBeGreaterThan(5000);
    for (const workspace of [...WORKSPACES, 'control/ui', 'gateway/inspector']) {
      expect([...graph.keys()].some((file) => file.startsWith(`${workspace}/`))).toBe(true);
    }
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

/** Entries of programs and packages, which hand the list of features to the core. */
const ENTRIES =
  /^gateway\/src\/(cli\/|public\/|compiler\/compile-project\.ts|serve\/serve\.ts|traffic\/serve-worker\.ts)/;
/** What makes a feature: its host side, without what only documents, tests or threads need. */
const FEATURE = /^gateway\/features\/\w+\/host\/.*(?<!-worker|-doc|\.test-support)\.ts$/;

describe('features', () => {
  const graph = importGraph();
  const arrows = (from: (file: string) => boolean, to: (file: string) => boolean) =>
    [...graph].flatMap(([file, imported]) =>
      from(file) ? imported.filter(to).map((target) => `${file} imports ${target}`) : [],
    );

  it('are named by the entries of programs alone', () => {
    const inCore = (file: string) => file.startsWith('gateway/src/');
    const isFeature = (file: string) => file.startsWith('gateway/features/');
    expect(arrows(inCore, isFeature).length).toBeGreaterThan(3);
    expect(arrows((file) => inCore(file) && !ENTRIES.test(file), isFeature)).toEqual([]);
  });

  it('import of the core what kit.ts exports', () => {
    const isFeature = (file: string) => FEATURE.test(file);
    expect(arrows(isFeature, (file) => file === 'gateway/features/kit.ts').length).toBeGreaterThan(100);
    expect(arrows(isFeature, (file) => file.startsWith('gateway/src/'))).toEqual([]);
  });
});

describe.each(['gateway', 'control', 'operator'])('folders of %s', (workspace) => {
  it('import in no circle', () => {
    const files = new Map([...importGraph()].filter(([file]) => file.startsWith(`${workspace}/`)));
    const folders = folderGraph(files);
    expect(folders.size).toBeGreaterThan(20);
    expect([...folders.values()].flat().length).toBeGreaterThan(60);
    expect(inCircles(folders)).toEqual([]);
  });
});

describe('folders', () => {
  it('would be found in a circle, with all that are in one', () => {
    const files = new Map([
      ['control/src/main.ts', ['control/src/http/server.ts']],
      ['control/src/http/server.ts', ['control/src/http/page.ts', 'control/src/modules/specs/routes.ts']],
      ['control/src/http/page.ts', []],
      ['control/src/modules/specs/routes.ts', ['control/src/errors.ts', 'control/src/access/actor.ts']],
      ['control/src/access/actor.ts', ['control/src/http/page.ts', 'control/src/db/rows.ts']],
      ['control/src/db/rows.ts', []],
      ['control/src/errors.ts', []],
    ]);
    expect(inCircles(folderGraph(files))).toEqual([
      'control/src/access',
      'control/src/http',
      'control/src/modules/specs',
    ]);
  });
});
