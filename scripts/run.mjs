// Entry of every npm script, plain JavaScript that runs on Node.js 20: it installs what is missing and goes on
// under Node.js 26, from the platform package that comes with the dependencies. See CONTRIBUTING.md.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [task, ...rest] = process.argv.slice(2);

/** npm writes a copy of the lockfile into node_modules: where it is older than ours, dependencies are missing. */
function installed() {
  const hidden = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const want = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const have = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  return Object.entries(want).every(
    ([path, entry]) =>
      path === '' ||
      !path.startsWith('node_modules/') ||
      entry.optional ||
      entry.peer ||
      have[path]?.version === entry.version,
  );
}

function install() {
  process.stderr.write('gw: installing dependencies (npm ci)\n');
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  const result = spawnSync(command, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0) fail('npm ci failed: see the lines above; the npm registry must be reachable');
}

function fail(message) {
  process.stderr.write(`gw: ${message}\n`);
  process.exit(1);
}

/** This Node.js where it is new enough, else the one of the platform package. */
function runtime() {
  if (Number(process.versions.node.split('.')[0]) >= 26) return process.execPath;
  const require = createRequire(join(root, 'package.json'));
  for (const name of [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`]) {
    try {
      return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'node');
    } catch {}
  }
  return fail(
    `there is no Node.js 26 package for ${process.platform}-${process.arch}; install Node.js 26 and run again`,
  );
}

if (!installed()) install();
const node = runtime();
const child = spawn(node, [join(root, 'scripts', 'tasks.ts'), task, ...rest], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${dirname(node)}:${join(root, 'node_modules', '.bin')}:${process.env.PATH ?? ''}` },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// npm's shell does not always pass signals on: when whoever started us is gone, so are we.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 1000).unref();
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
