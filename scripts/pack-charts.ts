/**
 * Packs every chart below charts/ into dist/charts/*.tgz, and with `--push oci://REGISTRY/PATH` pushes them there.
 * `--plain-http` speaks HTTP to that registry. Needs helm; `helm registry login` first where the registry asks for it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const out = join(root, 'dist', 'charts');

function helm(...args: readonly string[]): void {
  execFileSync('helm', [...args], { cwd: root, stdio: 'inherit' });
}

const { values } = parseArgs({ options: { push: { type: 'string' }, 'plain-http': { type: 'boolean' } } });
const target = values.push;
if (target !== undefined && !/^oci:\/\/[^/]/.test(target))
  throw new Error(`--push ${target}: expected oci://REGISTRY/PATH`);

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const name of readdirSync(join(root, 'charts')).toSorted()) {
  const chart = join(root, 'charts', name);
  if (existsSync(join(chart, 'Chart.yaml'))) helm('package', chart, '--destination', out);
}
if (target !== undefined) {
  for (const file of readdirSync(out))
    helm('push', join(out, file), target, ...(values['plain-http'] ? ['--plain-http'] : []));
}
