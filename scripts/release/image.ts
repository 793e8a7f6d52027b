/**
 * The image, built from the Dockerfile. Without a registry it stays in the engine as `gw:VERSION`; with one it is pushed.
 * Several platforms need buildx, whose builders keep no image, so that they are pushed as they are built.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageRepository } from './charts.ts';
import { addPushed } from './files.ts';
import type { ReleaseOptions } from './options.ts';
import { ask, ROOT, run } from './programs.ts';

export async function buildImage(options: ReleaseOptions): Promise<void> {
  const { version, imagePlatforms, pushRegistry, epoch, out } = options;
  const env = { SOURCE_DATE_EPOCH: String(epoch), BUILDX_NO_DEFAULT_ATTESTATIONS: '1' };
  const platform = imagePlatforms.length === 0 ? [] : ['--platform', imagePlatforms.join(',')];
  const repository = imageRepository(pushRegistry);
  const reference = `${repository ?? 'gw'}:${version}`;
  const build = [...platform, '--tag', reference, ...labels(options), ROOT];
  if (imagePlatforms.length <= 1) {
    await run('docker', ['build', ...build], { env });
    if (repository === undefined) return;
    const digest = digestIn(await run('docker', ['push', reference]));
    return addPushed(out, { kind: 'image', repository, tag: version, digest });
  }
  if (repository === undefined) {
    throw new Error('an image of several platforms is pushed as it is built: say with --push-registry HOST/PATH where');
  }
  await ask('docker', ['buildx', 'version']).catch(() => {
    throw new Error(
      'an image of several platforms needs docker buildx: see https://docs.docker.com/build/install-buildx',
    );
  });
  const folder = await mkdtemp(join(tmpdir(), 'gw-release-'));
  try {
    const metadata = join(folder, 'metadata.json');
    const output = ['--output', 'type=image,push=true,rewrite-timestamp=true', '--metadata-file', metadata];
    await run('docker', ['buildx', 'build', ...output, ...build], { env });
    const { 'containerimage.digest': digest }: { 'containerimage.digest': string } = JSON.parse(
      await readFile(metadata, 'utf8'),
    );
    await addPushed(out, { kind: 'image', repository, tag: version, digest });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** https://github.com/opencontainers/image-spec/blob/main/annotations.md */
function labels({ version, commit, sourceUrl, epoch }: ReleaseOptions): readonly string[] {
  const values = {
    title: 'gw',
    description: 'A spec-driven API gateway: gateway, control plane and operator',
    licenses: 'Apache-2.0',
    version,
    created: new Date(epoch * 1000).toISOString(),
    revision: commit,
    source: sourceUrl,
  };
  return Object.entries(values).flatMap(([name, value]) =>
    value ? ['--label', `org.opencontainers.image.${name}=${value}`] : [],
  );
}

/** The digest that `docker push` and `helm push` say. */
export function digestIn(printed: string): string {
  const [, digest] = /digest: (sha256:[0-9a-f]{64})/i.exec(printed) ?? [];
  if (digest === undefined) throw new Error(`no digest of what was pushed in: ${printed}`);
  return digest;
}
