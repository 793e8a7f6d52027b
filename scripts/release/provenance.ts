/**
 * What was built, from which commit, and by what: a statement in the format of SLSA (https://slsa.dev/spec/v1.1/provenance).
 * It is unsigned by itself: `checksums.txt`, which may be signed, has its digest. It holds no times, so that the same
 * commit gives the same statement.
 */
import { join } from 'node:path';
import { CHECKSUMS, PROVENANCE, PUSHED, readPushed, releaseFiles, SIGNATURE, sha256Of, writeJson } from './files.ts';
import type { ReleaseOptions } from './options.ts';
import { ROOT } from './programs.ts';

export async function writeProvenance({ out, version, commit, epoch, sourceUrl }: ReleaseOptions): Promise<void> {
  const files = await releaseFiles(out, [CHECKSUMS, SIGNATURE, PROVENANCE, PUSHED]);
  const images = (await readPushed(out)).filter(({ kind }) => kind === 'image');
  const source = sourceUrl === undefined ? {} : { uri: `git+${sourceUrl}@refs/tags/v${version}` };
  await writeJson(join(out, PROVENANCE), {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      ...files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
      ...images.map(({ repository, digest }) => ({ name: repository, digest: { sha256: digest.slice(7) } })),
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:gw:release:v1',
        externalParameters: { command: 'npm run release', version, sourceDateEpoch: epoch },
        resolvedDependencies: [
          { name: 'gw', ...source, ...(commit === null ? {} : { digest: { gitCommit: commit } }) },
          { name: 'package-lock.json', digest: { sha256: await sha256Of(join(ROOT, 'package-lock.json')) } },
        ],
      },
      runDetails: { builder: { id: builder() } },
    },
  });
}

/** Workflows say which they are. */
function builder(): string {
  const { GITHUB_SERVER_URL: server, GITHUB_WORKFLOW_REF: workflow } = process.env;
  return server && workflow ? `${server}/${workflow}` : 'urn:gw:builder:local';
}
