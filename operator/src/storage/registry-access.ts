/** Opens a repository with the project's settings and the credentials of its namespace. */
import { messageOf } from '@gw/gateway/message-of';
import type { RegistryAccess } from '../objects/artifact-record.ts';
import type { RegistryClient } from '../registry/client.ts';
import { DOCKER_CONFIG_KEY, type DockerConfig, parseDockerConfig } from '../registry/docker-config.ts';
import { RegistryError } from '../registry/error.ts';
import { parseRepository } from '../registry/reference.ts';
import type { Repository } from '../registry/repository.ts';
import type { Objects } from '../runtime/objects.ts';
import { readSecret } from '../sources/read-source.ts';

export interface OpenWith {
  readonly registries: RegistryClient;
  readonly objects: Pick<Objects, 'get'>;
}

/** `repository`: REGISTRY/REPOSITORY. Rejects with RegistryError. */
export async function openRepository(
  { registries, objects }: OpenWith,
  namespace: string,
  repository: string,
  { plainHttp = false }: Pick<RegistryAccess, 'plainHttp'>,
  secret: string | undefined,
): Promise<Repository> {
  const name = parseRepository(repository);
  const credentials = secret === undefined ? [] : await readCredentials(objects, namespace, secret);
  return registries.repository(name, { credentials, plainHttp });
}

/** `sha256:<hex>` of REGISTRY/REPOSITORY@DIGEST. */
export function digestIn(image: string): string {
  return image.slice(image.indexOf('@') + 1);
}

async function readCredentials(objects: Pick<Objects, 'get'>, namespace: string, name: string): Promise<DockerConfig> {
  const read = await readSecret(objects, namespace, name);
  if (!read.ok) throw new RegistryError('invalid', read.message);
  const json = read.entries.get(DOCKER_CONFIG_KEY);
  if (!json) {
    throw new RegistryError(
      'invalid',
      `Secret "${name}" has no key "${DOCKER_CONFIG_KEY}": create it with kubectl create secret docker-registry`,
    );
  }
  try {
    return parseDockerConfig(json);
  } catch (error) {
    const why = messageOf(error);
    throw new RegistryError('invalid', `key "${DOCKER_CONFIG_KEY}" of Secret "${name}" cannot be read: ${why}`);
  }
}
