/** Builds and publishes a release: `npm run release -- --help`, docs/releasing.md. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packCharts } from './charts.ts';
import { CHECKSUMS, PUSHED, releaseFiles, SIGNATURE } from './files.ts';
import { buildImage } from './image.ts';
import { packKubectlPlugin } from './kubectl-plugin.ts';
import { type ReleaseOptions, releaseCommand, type Step } from './options.ts';
import { ask, runScript, type Tool } from './programs.ts';
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

const TOOLS: Readonly<Record<Step, readonly Tool[]>> = {
  packages: ['npm'],
  charts: ['helm'],
  kubectl: ['npm'],
  image: ['docker'],
  sbom: ['npm'],
  provenance: [],
  checksums: [],
  publish: ['npm', 'helm'],
  signatures: ['cosign'],
};

/** Throws if a tool is missing: at once, and not when its step comes after minutes. */
async function checkTools({ steps, pushNpm, pushRegistry }: ReleaseOptions): Promise<void> {
  const idle = [...(pushNpm === undefined ? ['npm'] : []), ...(pushRegistry === undefined ? ['helm'] : [])];
  const needed = steps.flatMap((step) => TOOLS[step].filter((tool) => step !== 'publish' || !idle.includes(tool)));
  for (const tool of new Set(needed)) await ask(tool, [tool === 'npm' || tool === 'docker' ? '--version' : 'version']);
}

const say = (text: string) => process.stderr.write(`gw release: ${text}\n`);

async function release(options: ReleaseOptions): Promise<void> {
  const { out, steps, version, dryRun } = options;
  if (dryRun) {
    say(`${version} into ${out}: ${steps.join(', ')}`);
    const { epoch, commit, imagePlatforms, kubectlPlatforms, pushRegistry, pushNpm, signing } = options;
    say(
      JSON.stringify({ epoch, commit, imagePlatforms, kubectlPlatforms, pushRegistry, pushNpm, signing: signing.by }),
    );
    return;
  }
  await checkTools(options);
  if (options.dirty) {
    const message = 'the checkout has changes that are not committed';
    if (options.signing.by === 'keyless') throw new Error(`${message}: commit them before you sign what users verify`);
    say(`${message}: the provenance says so`);
  }
  await mkdir(out, { recursive: true });
  for (const [index, step] of steps.entries()) {
    const started = performance.now();
    say(`${step} (${index + 1} of ${steps.length})`);
    await STEP[step](options);
    say(`${step}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
  say(`${out} holds gw ${version}`);
}

try {
  await releaseCommand(release).parseAsync();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

/** `checksums.txt`: SHA-256 of every file, as `sha256sum --check` reads it. */
async function writeChecksums({ out }: ReleaseOptions): Promise<void> {
  const files = await releaseFiles(out, [CHECKSUMS, SIGNATURE, PUSHED]);
  await writeFile(join(out, CHECKSUMS), files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));
}

/** The packages for npm. */
async function packPackages({ out, sourceUrl }: ReleaseOptions): Promise<void> {
  const args = ['--out', join(out, 'npm')];
  await runScript('scripts/pack.ts', sourceUrl === undefined ? args : [...args, '--repository', sourceUrl]);
}
