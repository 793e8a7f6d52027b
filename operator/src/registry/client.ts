/** Registries that speak the OCI distribution specification, as far as images are pushed, pulled and deleted. */
import type { EgressGuard } from '@gw/gateway/egress';
import { Authorization } from './authorization.ts';
import { credentialFor, type DockerConfig } from './docker-config.ts';
import { RegistryError } from './error.ts';
import { RegistryHttp } from './http.ts';
import { isDockerHub, type RepositoryName } from './reference.ts';
import { Repository } from './repository.ts';

export interface RegistryClientOptions {
  /** Guard of the addresses that the operator may connect to (`--egress-allow`). */
  readonly guard: EgressGuard;
  /** Registries, HOST or HOST:PORT, with which plain HTTP may be spoken (`--plain-http-registry`). */
  readonly plainHttpRegistries: readonly string[];
}

export interface RepositoryAccess {
  /** Default: anonymous. */
  readonly credentials?: DockerConfig;
  /** Plain HTTP; the operator must allow it for this registry. Default false. */
  readonly plainHttp?: boolean;
}

export class RegistryClient {
  readonly #http: RegistryHttp;
  readonly #plainHttpRegistries: ReadonlySet<string>;

  constructor({ guard, plainHttpRegistries }: RegistryClientOptions) {
    this.#http = new RegistryHttp(guard);
    this.#plainHttpRegistries = new Set(plainHttpRegistries.map((host) => host.toLowerCase()));
  }

  /** Does not connect yet. Throws RegistryError (`refused`) if plain HTTP is requested and not allowed. */
  repository(name: RepositoryName, { credentials = [], plainHttp = false }: RepositoryAccess = {}): Repository {
    const { registry, repository } = name;
    if (plainHttp && !this.#plainHttpRegistries.has(registry.toLowerCase())) {
      throw new RegistryError(
        'refused',
        `plain HTTP with ${registry} is not allowed: leave out plainHttp, or start the operator with --plain-http-registry ${registry}`,
      );
    }
    const call = this.#http.call.bind(this.#http, plainHttp);
    const host = isDockerHub(registry) ? 'registry-1.docker.io' : registry;
    return new Repository({
      name,
      base: new URL(`${plainHttp ? 'http' : 'https'}://${host}/v2/${repository}/`),
      authorization: new Authorization(name, credentialFor(credentials, name), call),
      call,
      closed: this.#http.closed,
    });
  }

  async close(): Promise<void> {
    await this.#http.close();
  }
}
