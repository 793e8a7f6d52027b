/** The fetcher of sources, as the operator and local mode run it. */
import { BufferBudget, type EgressGuard, HttpClient } from '@gw/gateway/egress';
import { type Secret, secrets } from '../api/resources.ts';
import type { RegistryClient } from '../registry/client.ts';
import type { Objects } from '../runtime/objects.ts';
import { MAX_BYTES } from './content.ts';
import { fetchOci } from './fetch-oci.ts';
import { fetchUrl } from './fetch-url.ts';
import { SourceFetcher } from './fetcher.ts';
import { SourceError, type SourceRequest } from './source.ts';

/** Limits of users' registries and URLs, for the whole operator. */
export interface EgressSettings {
  /** Guard of the addresses that may be connected to (`--egress-allow`). */
  readonly guard: EgressGuard;
  /** The option's own text, for pods that fetch in the operator's place. */
  readonly egressAllow: readonly string[];
  /** HOST or HOST:PORT (`--plain-http-registry`). */
  readonly plainHttpRegistries: readonly string[];
  /** Hosts, with the port if it is not 80, whose URLs may be `http:` (`--plain-http-source`). */
  readonly plainHttpSources: readonly string[];
  /** Bytes of everything that is fetched and kept (`--source-cache`). */
  readonly sourceCacheBytes: number;
}

export interface SourceFetcherOptions {
  readonly egress: EgressSettings;
  /** Reads the Secrets that sources name, in the namespace of the owner. */
  readonly objects: Objects;
  readonly registries: RegistryClient;
  readonly onFetched?: (type: SourceRequest['type'], ok: boolean) => void;
}

export interface OpenFetcher {
  readonly sources: SourceFetcher;
  close(): Promise<void>;
}

/** Maximum bytes of answers that are being read. */
const MAX_READING = 4 * MAX_BYTES;

export function openFetcher({ egress, objects, registries, onFetched }: SourceFetcherOptions): OpenFetcher {
  const { guard, plainHttpSources, sourceCacheBytes } = egress;
  const shared = { guard, maxResponseBytes: MAX_BYTES, budget: new BufferBudget(MAX_READING) };
  const client = new HttpClient({ ...shared, allowPlaintext: false });
  const plain = new HttpClient({ ...shared, allowPlaintext: true });
  const secret = (namespace: string, name: string) => readSecret(objects, namespace, name);
  const url = { client, plain, plainHosts: new Set(plainHttpSources.map((host) => host.toLowerCase())), secret };
  const oci = { registries, secret };
  const sources = new SourceFetcher({
    maxBytes: sourceCacheBytes,
    ...(onFetched ? { onFetched } : {}),
    fetch: (owner, request, before) =>
      request.type === 'url' ? fetchUrl(url, owner, request, before) : fetchOci(oci, owner, request, before),
  });
  return {
    sources,
    async close() {
      sources.close();
      await Promise.all([client.close(), plain.close()]);
    },
  };
}

async function readSecret(objects: Objects, namespace: string, name: string): Promise<Secret> {
  const found = await objects.get(secrets, { namespace, name });
  if (!found) throw new SourceError('SourceNotFound', `Secret "${name}" is not in namespace "${namespace}"`);
  return found;
}
