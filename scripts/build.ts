/**
 * Bundles what the image holds into dist/image: `gw.js`, `gw-control.js`, `gw-operator.js`, the files that workers start from
 * (`*-worker.ts`), and the built-in plugins beside them. The Dockerfile copies that folder and nothing else.
 */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { VERSION } from '../gateway/src/version.ts';
import { CONSOLE_FOLDER } from './build-ui.ts';

const root = join(import.meta.dirname, '..');
const out = join(root, 'dist', 'image');
const GRPC_EXPORTER = '@opentelemetry/exporter-trace-otlp-grpc';

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const workers: Record<string, string> = {};
for await (const file of glob('{gateway,control,operator}/src/**/*-worker.ts', { cwd: root })) {
  workers[basename(file, '.ts')] = file;
}
const { warnings } = await build({
  absWorkingDir: root,
  entryPoints: {
    gw: 'gateway/src/main.ts',
    'gw-control': 'control/src/main.ts',
    'gw-operator': 'operator/src/main.ts',
    ...workers,
  },
  outdir: out,
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node26',
  format: 'esm',
  minifySyntax: true,
  // One character of a comment that is not Latin-1 makes two bytes of each in memory. Lines stay short for stack traces.
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: 'none',
  logLevel: 'warning',
  // As an ES module it asks for gRPC by a `require` of its own making, which no bundler sees.
  alias: { [GRPC_EXPORTER]: join(root, 'node_modules', GRPC_EXPORTER, 'dist', 'index.cjs') },
  // Packages in CommonJS ask for `require`, which an ES module does not have by itself.
  banner: {
    js: "import { createRequire as gwRequire } from 'node:module'; const require = gwRequire(import.meta.url);",
  },
});
if (warnings.length > 0) process.exitCode = 1;

writeFileSync(join(out, 'package.json'), `${JSON.stringify({ name: 'gw', version: VERSION, type: 'module' })}\n`);
const plugins = join(root, 'gateway', 'plugins');
for (const name of readdirSync(plugins)) {
  mkdirSync(join(out, 'plugins', name), { recursive: true });
  for (const file of ['plugin.toml', 'config-schema.json', `${name}.wasm`]) {
    cpSync(join(plugins, name, file), join(out, 'plugins', name, file));
  }
}
// PGlite looks for its files beside the worker that it is bundled into.
const pglite = join(root, 'node_modules', '@electric-sql', 'pglite', 'dist');
for (const file of ['pglite.wasm', 'pglite.data', 'initdb.wasm']) cpSync(join(pglite, file), join(out, file));
cpSync(CONSOLE_FOLDER, join(out, 'ui'), { recursive: true });
cpSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
