/**
 * Signs with cosign: `checksums.txt`, whose bundle lies beside it, and what was pushed to registries, whose signatures and
 * bill of materials lie beside it there. By key, nothing leaves the machine; keyless, the certificate and the signature
 * are in the public log of Sigstore.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKSUMS, readPushed, SIGNATURE, sbomFile, writeJson } from './files.ts';
import type { ReleaseOptions } from './options.ts';
import { run } from './programs.ts';

/** Names no log and no time stamp authority. */
const NO_SERVICES = {
  mediaType: 'application/vnd.dev.sigstore.signingconfig.v0.2+json',
  rekorTlogConfig: {},
  tsaConfig: {},
};

export async function sign({ out, version, signing, plainHttp }: ReleaseOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-release-'));
  try {
    const config = join(folder, 'signing-config.json');
    await writeJson(config, NO_SERVICES);
    const how = signing.by === 'key' ? ['--key', signing.key, '--signing-config', config] : [];
    await run('cosign', ['sign-blob', '--yes', ...how, '--bundle', join(out, SIGNATURE), join(out, CHECKSUMS)]);
    const http = plainHttp ? ['--allow-http-registry'] : [];
    for (const { kind, repository, digest } of await readPushed(out)) {
      const reference = `${repository}@${digest}`;
      await run('cosign', ['sign', '--yes', ...how, ...http, ...(kind === 'image' ? ['--recursive'] : []), reference]);
      if (kind === 'chart') continue;
      const sbom = ['--type', 'cyclonedx', '--predicate', join(out, sbomFile(version))];
      await run('cosign', ['attest', '--yes', ...how, ...http, ...sbom, reference]);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
