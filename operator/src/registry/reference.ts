/** Names of images: `REGISTRY/REPOSITORY[:TAG][@sha256:DIGEST]` (OCI distribution specification, "Pulling manifests"). */
import { RegistryError } from './error.ts';

export interface RepositoryName {
  /** Host, with the port if the name has one. */
  readonly registry: string;
  /** Path within the registry. */
  readonly repository: string;
}

export interface Reference extends RepositoryName {
  readonly tag?: string;
  /** `sha256:<hex>`; with a tag beside it, the digest decides. */
  readonly digest?: string;
}

const HOST = /^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*(:[0-9]{1,5})?$/;
const REPOSITORY = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
export const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Maximum length of a name in container runtimes. */
const MAX_NAME = 255;

/** Throws RegistryError (`invalid`) that names the fault of the text. */
export function parseReference(text: string): Reference {
  const [beforeDigest = '', digest, ...more] = text.split('@');
  if (more.length > 0) throw invalid(text, 'it has more than one @');
  if (digest !== undefined && !DIGEST.test(digest)) {
    throw invalid(text, 'the @ is not followed by a digest: sha256: and 64 hexadecimal digits in lower case');
  }
  const colon = beforeDigest.lastIndexOf(':');
  const tagged = colon > beforeDigest.lastIndexOf('/');
  const tag = tagged ? beforeDigest.slice(colon + 1) : undefined;
  if (tag !== undefined && !TAG.test(tag)) throw invalid(text, `"${tag.slice(0, 140)}" is not a valid tag`);
  return {
    ...parseRepository(tagged ? beforeDigest.slice(0, colon) : beforeDigest),
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** `REGISTRY/REPOSITORY`. Throws RegistryError (`invalid`). */
export function parseRepository(text: string): RepositoryName {
  const slash = text.indexOf('/');
  const registry = text.slice(0, Math.max(0, slash));
  const named = text.slice(slash + 1);
  // Container runtimes take such a name as a host; others would go to Docker Hub.
  if (!HOST.test(registry) || !(/[.:]/.test(registry) || registry === 'localhost')) {
    throw invalid(text, 'it must begin with the host of a registry, such as registry.example.org/ or docker.io/');
  }
  const port = /:([0-9]+)$/.exec(registry)?.[1];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65535))
    throw invalid(text, `${port} is not a valid port`);
  // Images of Docker itself have a short name.
  const repository = isDockerHub(registry) && !named.includes('/') ? `library/${named}` : named;
  if (!REPOSITORY.test(repository) || text.length > MAX_NAME) {
    throw invalid(
      text,
      'a repository has lower-case letters, digits and single . _ - / between them, 255 characters in all',
    );
  }
  return { registry, repository };
}

export function formatReference({ registry, repository, tag, digest }: Reference): string {
  return `${registry}/${repository}${tag ? `:${tag}` : ''}${digest ? `@${digest}` : ''}`;
}

export function isDockerHub(registry: string): boolean {
  return ['docker.io', 'index.docker.io', 'registry-1.docker.io'].includes(registry);
}

function invalid(text: string, why: string): RegistryError {
  return new RegistryError('invalid', `"${text.slice(0, 300)}" is not a valid image reference: ${why}`);
}
