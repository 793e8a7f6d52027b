/** Credentials for registries, as Secrets of type kubernetes.io/dockerconfigjson hold them. */
import { isRecord } from '../kube/kube-object.ts';
import { RegistryError } from './error.ts';
import { isDockerHub, type RepositoryName } from './reference.ts';

/** Key of such a Secret. */
export const DOCKER_CONFIG_KEY = '.dockerconfigjson';

export type Credential =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  /** A refresh token, to be exchanged at the token server. */
  | { readonly kind: 'identity'; readonly token: string }
  /** A bearer token of the registry itself. */
  | { readonly kind: 'registry-token'; readonly token: string };

interface Entry {
  /** Labels of the host; one may be a glob. */
  readonly host: readonly string[];
  readonly port: string;
  /** Path without slashes around it; empty for the whole registry. */
  readonly path: string;
  readonly credential: Credential;
}

/** Which credential goes to which registry. */
export type DockerConfig = readonly Entry[];

const MAX_ENTRIES = 1000;

/** Throws RegistryError (`invalid`), whose message repeats nothing of the text. */
export function parseDockerConfig(json: Uint8Array | string): DockerConfig {
  let parsed: unknown;
  try {
    parsed = JSON.parse(typeof json === 'string' ? json : Buffer.from(json).toString('utf8'));
  } catch {
    throw new RegistryError('invalid', 'it is not JSON');
  }
  const auths = isRecord(parsed) ? parsed['auths'] : undefined;
  if (!isRecord(auths)) throw new RegistryError('invalid', 'it has no object "auths"');
  const named = Object.entries(auths);
  if (named.length > MAX_ENTRIES) throw new RegistryError('invalid', `it has more than ${MAX_ENTRIES} entries`);
  return named
    .map(([key, value], index) => {
      const credential = credentialOf(value);
      if (!credential) {
        throw new RegistryError(
          'invalid',
          `entry ${index + 1} of "auths" has neither auth, nor username and password, nor identitytoken`,
        );
      }
      return { ...placeOf(key), credential };
    })
    .toSorted((a, b) => b.path.length - a.path.length || globs(a) - globs(b));
}

/**
 * Returns the entry with the longest path that covers the repository, one without a glob before one with, as the
 * kubelet does.
 */
export function credentialFor(config: DockerConfig, { registry, repository }: RepositoryName): Credential | undefined {
  const hosts = isDockerHub(registry) ? ['docker.io', 'index.docker.io', 'registry-1.docker.io'] : [registry];
  const places = hosts.map((host) => placeOf(host));
  return config.find(
    (entry) =>
      places.some((place) => place.port === entry.port && hostMatches(entry.host, place.host)) &&
      (entry.path === '' || repository === entry.path || repository.startsWith(`${entry.path}/`)),
  )?.credential;
}

function hostMatches(pattern: readonly string[], host: readonly string[]): boolean {
  return (
    pattern.length === host.length &&
    pattern.every((label, i) => {
      if (!label.includes('*')) return label === host[i];
      // Parts around stars, in turn: a pattern of a user must cost no back-tracking.
      const [first = '', ...rest] = label.split('*');
      const text = host[i] ?? '';
      const last = rest.pop() ?? '';
      if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
      let at = first.length;
      for (const part of rest) {
        const found = text.indexOf(part, at);
        if (found < 0 || found + part.length > text.length - last.length) return false;
        at = found + part.length;
      }
      return true;
    })
  );
}

function globs({ host }: Pick<Entry, 'host'>): number {
  return host.filter((label) => label.includes('*')).length;
}

/** `https://index.docker.io/v1/`, `registry.example.org:5000`, `*.example.org/team`. */
function placeOf(key: string): Omit<Entry, 'credential'> {
  const plain = key.toLowerCase().replace(/^https?:\/\//, '');
  const slash = plain.indexOf('/');
  const authority = slash < 0 ? plain : plain.slice(0, slash);
  const path = (slash < 0 ? '' : plain.slice(slash + 1)).replace(/\/+$/, '');
  const colon = authority.lastIndexOf(':');
  const host = colon < 0 ? authority : authority.slice(0, colon);
  return {
    host: host.split('.'),
    port: colon < 0 ? '' : authority.slice(colon + 1),
    // The API version, which docker login writes, is not a repository path.
    path: /^v[12]$/.test(path) ? '' : path.replace(/^v[12]\//, ''),
  };
}

function credentialOf(value: unknown): Credential | undefined {
  if (!isRecord(value)) return undefined;
  const text = (name: string) => (typeof value[name] === 'string' && value[name] !== '' ? value[name] : undefined);
  const identity = text('identitytoken');
  if (identity !== undefined) return { kind: 'identity', token: identity };
  const registry = text('registrytoken');
  if (registry !== undefined) return { kind: 'registry-token', token: registry };
  const auth = text('auth');
  if (auth !== undefined) {
    const decoded = Buffer.from(auth, 'base64').toString('utf8').replace(/\0+$/, '');
    const colon = decoded.indexOf(':');
    if (colon > 0) {
      return { kind: 'password', username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
    }
  }
  const username = text('username');
  const password = text('password');
  return username !== undefined && password !== undefined ? { kind: 'password', username, password } : undefined;
}
