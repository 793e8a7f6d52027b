/**
 * Packs every chart below charts/ into dist/charts/*.tgz (or the folder of `--out`), and with `--push oci://REGISTRY/PATH`
 * pushes them there. `--plain-http` speaks HTTP to that registry; `--image-repository` becomes the charts' default;
 * `--epoch SECONDS` becomes the time of the files. Needs helm; `helm registry login` first where the registry asks for it.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withTime } from './release/archive.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'dist', 'charts') },
    push: { type: 'string' },
    'plain-http': { type: 'boolean' },
    'image-repository': { type: 'string' },
    epoch: { type: 'string' },
  },
});
const { out, push: target, epoch, 'image-repository': imageRepository } = values;
if (target !== undefined && !/^oci:\/\/[^/]/.test(target))
  throw new Error(`--push ${target}: expected oci://REGISTRY/PATH`);

function helm(...args: readonly string[]): void {
  try {
    execFileSync('helm', [...args], { cwd: root, stdio: 'inherit' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    throw new Error('helm is not installed: see https://helm.sh/docs/intro/install');
  }
}

/** A copy of the chart whose image is taken from there. */
function withImage(chart: string, folder: string, repository: string): string {
  cpSync(chart, folder, { recursive: true });
  const file = join(folder, 'values.yaml');
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(/^ {2}repository: gw$/m, `  repository: ${repository}`);
  if (changed === text) throw new Error(`${chart}/values.yaml has no default "repository: gw" of the image`);
  writeFileSync(file, changed);
  return folder;
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const staging = mkdtempSync(join(tmpdir(), 'gw-charts-'));
try {
  for (const name of readdirSync(join(root, 'charts')).toSorted()) {
    const chart = join(root, 'charts', name);
    if (!existsSync(join(chart, 'Chart.yaml'))) continue;
    const source = imageRepository === undefined ? chart : withImage(chart, join(staging, name), imageRepository);
    helm('package', source, '--destination', out);
  }
} finally {
  rmSync(staging, { recursive: true });
}
for (const file of readdirSync(out)) {
  if (epoch !== undefined) await withTime(join(out, file), Number(epoch));
  if (target !== undefined) helm('push', join(out, file), target, ...(values['plain-http'] ? ['--plain-http'] : []));
}
