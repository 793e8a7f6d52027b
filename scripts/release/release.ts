/** Builds and publishes a release: `npm run release -- --help`, docs/releasing.md. */
import { mkdir } from 'node:fs/promises';
import { relative } from 'node:path';
import { packCharts } from './charts.ts';
import { writeChecksums } from './checksums.ts';
import { buildImage } from './image.ts';
import { packKubectlPlugin } from './kubectl-plugin.ts';
import { type ReleaseOptions, releaseCommand, type Step } from './options.ts';
import { packPackages } from './packages.ts';
import { ROOT } from './programs.ts';
import { writeProvenance } from './provenance.ts';
import { publish } from './publish.ts';
import { writeSbom } from './sbom.ts';
import { sign } from './signatures.ts';

const STEP: Readonly<Record<Step, (options: ReleaseOptions) => Promise<void>>> = {
  packages: packPackages,
  charts: packCharts,
  kubectl: packKubectlPlugin,
  image: buildImage,
  sbom: writeSbom,
  provenance: writeProvenance,
  checksums: writeChecksums,
  publish,
  signatures: sign,
};

const say = (text: string) => process.stderr.write(`gw release: ${text}\n`);

async function release(options: ReleaseOptions): Promise<void> {
  const { out, steps, version, dryRun } = options;
  if (dryRun) {
    say(`${version} into ${relative(ROOT, out)}: ${steps.join(', ')}`);
    const { epoch, commit, imagePlatforms, kubectlPlatforms, pushRegistry, pushNpm, signing } = options;
    say(
      JSON.stringify({ epoch, commit, imagePlatforms, kubectlPlatforms, pushRegistry, pushNpm, signing: signing.by }),
    );
    return;
  }
  await mkdir(out, { recursive: true });
  for (const [index, step] of steps.entries()) {
    const started = performance.now();
    say(`${step} (${index + 1} of ${steps.length})`);
    await STEP[step](options);
    say(`${step}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
  say(`${relative(ROOT, out)} holds gw ${version}`);
}

try {
  await releaseCommand(release).parseAsync();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
