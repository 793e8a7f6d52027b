/** The packages for npm. */
import { join } from 'node:path';
import type { ReleaseOptions } from './options.ts';
import { runScript } from './programs.ts';

export async function packPackages({ out, sourceUrl }: ReleaseOptions): Promise<void> {
  const args = ['--out', join(out, 'npm')];
  await runScript('scripts/pack.ts', sourceUrl === undefined ? args : [...args, '--repository', sourceUrl]);
}
