import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EgressGuard } from '@gw/gateway/egress';
import { messageOf } from '@gw/gateway/message-of';
import type { AddCommand } from '../program.ts';
import { RegistryClient } from '../registry/client.ts';
import { type DockerConfig, parseDockerConfig } from '../registry/docker-config.ts';
import { parseReference } from '../registry/reference.ts';
import { pullArtifact } from '../storage/pull-artifact.ts';
import { addRegistryOptions, type RegistryFlags } from './egress-options.ts';

interface Options extends RegistryFlags {
  readonly dockerConfig: readonly string[];
}

/** `gw-operator fetch`: run by the init container of gateway pods if a cluster has no image volumes. */
export const fetchCommand: AddCommand = (parent, { stdout }) => {
  const command = parent
    .command('fetch')
    .description('copy the artifact of an image in a registry into a folder')
    .argument('<image>', 'REGISTRY/REPOSITORY@sha256:DIGEST')
    .argument('<folder>', 'target folder')
    .option(
      '--docker-config <file>',
      'credentials, as docker login writes them; repeatable; a file that is not there is left out',
      (text: string, before: readonly string[]) => [...before, text],
      [],
    );
  addRegistryOptions(command)
    .addHelpText('after', '\nExamples:\n  $ gw-operator fetch registry.example.org/shop@sha256:<digest> ./artifact')
    .action(async (image: string, folder: string, { dockerConfig, egressAllow, plainHttpRegistry }: Options) => {
      const reference = parseReference(image);
      const { registry, digest } = reference;
      if (digest === undefined) throw new Error(`"${image}" has no digest: artifacts are fetched by digest only`);
      const configs = await Promise.all(dockerConfig.map(readDockerConfig));
      const client = new RegistryClient({
        // The user of this command names the registry.
        guard: new EgressGuard({ allowInternal: false, allow: [hostOf(registry), ...egressAllow] }),
        plainHttpRegistries: plainHttpRegistry,
      });
      try {
        const plainHttp = plainHttpRegistry.includes(registry);
        const repository = client.repository(reference, { credentials: configs.flat(), plainHttp });
        const artifact = await pullArtifact(repository, digest);
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, artifact.name), artifact.bytes);
        stdout(`${artifact.name}: ${artifact.bytes.length} bytes\n`);
      } finally {
        await client.close();
      }
    });
};

function hostOf(registry: string): string {
  return registry.replace(/:\d+$/, '');
}

async function readDockerConfig(file: string): Promise<DockerConfig> {
  try {
    return parseDockerConfig(await readFile(file));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw new Error(`${file}: ${messageOf(error)}`, { cause: error });
  }
}
