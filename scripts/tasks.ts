/** What each npm script does, under Node.js 26 and with the dependencies in place. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { buildInspector } from './build-inspector.ts';
import { buildPlugins, type PluginBuild } from './build-plugins.ts';
import { buildPrograms, PROGRAMS_FOLDER } from './build-programs.ts';
import { buildReference } from './build-reference.ts';
import { buildUi } from './build-ui.ts';
import { COVERAGE_OPTIONS, coverage } from './coverage.ts';

const root = join(import.meta.dirname, '..');

/** Runs a program to its end with our streams; resolves to its exit code. Signals reach it through the group. */
function run(file: string, ...args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: root, stdio: 'inherit' });
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, forward);
    // npm's shell does not always pass signals on: when whoever started us is gone, so are we.
    const parent = process.ppid;
    const orphaned = setInterval(() => {
      if (process.ppid !== parent) child.kill('SIGTERM');
    }, 1000);
    orphaned.unref();
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

const node = (...args: string[]) => run(process.execPath, ...args);
const bin = (name: string) => join(root, 'node_modules', '.bin', name);

async function all(...steps: (() => Promise<number>)[]): Promise<number> {
  for (const step of steps) {
    const code = await step();
    if (code !== 0) return code;
  }
  return 0;
}

/** Everything else runs unbuilt. */
async function prepare(plugins?: PluginBuild): Promise<void> {
  await buildPlugins(plugins);
  await buildUi();
  await buildInspector();
  await buildReference();
}

/** With the bundles, which start in a third of the time; from source where GW_TEST_PROGRAMS is set and empty. */
async function vitest(...args: string[]): Promise<number> {
  await prepare({ fixtures: true });
  if (process.env['GW_TEST_PROGRAMS'] === undefined) {
    await buildPrograms();
    process.env['GW_TEST_PROGRAMS'] = PROGRAMS_FOLDER;
    // Programs that are started hundreds of times compile once; coverage of what was compiled before would be wrong.
    process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'gw-compiled');
  }
  return node('node_modules/vitest/vitest.mjs', 'run', ...args);
}

/** Runs VitePress (`site/`), with its packages in place. */
async function site(args: readonly string[]): Promise<number> {
  const vitepress = join(root, 'site', 'node_modules', '.bin', 'vitepress');
  const install = () => run('npm', 'ci', '--prefix', 'site', '--no-audit', '--no-fund', '--loglevel=error');
  return all(
    () => (existsSync(vitepress) ? Promise.resolve(0) : install()),
    () => run(vitepress, ...args),
  );
}

const tasks: Record<string, (args: string[]) => Promise<number>> = {
  start: async (args) => {
    await prepare();
    return node(
      'operator/src/main.ts',
      'local',
      ...(args.length > 0 ? args : ['examples/bookstore', '--allow-commands', '--dev']),
    );
  },
  test: (args) => vitest(...args),
  'test:long': (args) => {
    process.env['GW_TEST_LONG'] = '1';
    return vitest(...args);
  },
  coverage: (args) => {
    process.env['GW_TEST_PROGRAMS'] = '';
    return coverage((folder) => {
      process.env['NODE_V8_COVERAGE'] = folder;
      return vitest(...COVERAGE_OPTIONS, ...args);
    });
  },
  bench: async (args) => {
    await prepare({ fixtures: true });
    const parts = (await Array.fromAsync(glob('gateway/src/**/*.bench.ts', { cwd: root }))).sort();
    await buildPrograms();
    const tables = ['run', 'messages', 'ai'].map((name) => () => node(`test/bench/${name}.ts`, ...args));
    return all(...tables, ...parts.map((file) => () => node(file)));
  },
  plugins: async () => buildPlugins({ force: true, fixtures: true }).then(() => 0),
  build: async () => {
    await prepare();
    await buildPrograms();
    return 0;
  },
  pack: async () => {
    await prepare();
    return node('scripts/pack.ts');
  },
  release: async (args) => {
    if (!args.includes('--help') && !args.includes('-h')) {
      await prepare();
      await buildPrograms();
    }
    return node('scripts/release/release.ts', ...args);
  },
  // Its packages have a lockfile of their own, since nothing else needs them.
  docs: (args) => site(['dev', 'site', ...args]),
  'docs:build': (args) => site(['build', 'site', ...args]),
  'pack:charts': (args) => node('scripts/pack-charts.ts', ...args),
  // Before the plugins are built: their SDK's imports are among what it writes.
  generate: (args) =>
    all(
      () => node('scripts/version-files.ts'),
      () => node('scripts/generate.ts', ...args),
    ),
  check: () =>
    all(
      () => run(bin('biome'), 'check', '--error-on-warnings', '.'),
      () => run(bin('tsc'), '-p', '.'),
      () => run(bin('tsc'), '-p', 'control/ui'),
      () => run(bin('tsc'), '-p', 'gateway/inspector'),
      () => run(bin('tsc'), '-p', 'gateway/reference'),
      () => run(bin('knip'), '--no-config-hints'),
    ),
  format: () => run(bin('biome'), 'check', '--write', '.'),
};

const [name = '', ...args] = process.argv.slice(2);
const task = tasks[name];
if (!task) {
  process.stderr.write(`unknown task "${name}": one of ${Object.keys(tasks).join(', ')}\n`);
  process.exitCode = 1;
} else {
  process.exitCode = await task(args);
}
