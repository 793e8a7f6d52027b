/** The charts, whose images are those of this release if it is pushed. */
import { join } from 'node:path';
import type { ReleaseOptions } from './options.ts';
import { runScript } from './programs.ts';

/** `HOST/PATH/gw`; undefined if the release is pushed nowhere. */
export function imageRepository(pushRegistry: string | undefined): string | undefined {
  return pushRegistry === undefined ? undefined : `${pushRegistry}/gw`;
}

export async function packCharts({ out, epoch, pushRegistry }: ReleaseOptions): Promise<void> {
  const repository = imageRepository(pushRegistry);
  const args = ['--out', join(out, 'charts'), '--epoch', String(epoch)];
  await runScript(
    'scripts/pack-charts.ts',
    repository === undefined ? args : [...args, '--image-repository', repository],
  );
}
