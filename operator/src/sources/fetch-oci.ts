/**
 * Pulls the content of an ApiSpec or PluginRef from an OCI registry: the files in the layers, and cosign's signatures.
 */
import { ArchiveError, isGzip, isTar, unpack } from '@gw/gateway/compiler';
import { messageOf } from '@gw/gateway/message-of';
import type { Secret } from '../api/resources.ts';
import { isRecord } from '../kube/kube-object.ts';
import type { RegistryClient } from '../registry/client.ts';
import { DOCKER_CONFIG_KEY, type DockerConfig, parseDockerConfig } from '../registry/docker-config.ts';
import { RegistryError } from '../registry/error.ts';
import { type Descriptor, type PulledManifest, parseImageManifest } from '../registry/manifest.ts';
import { DIGEST, parseReference } from '../registry/reference.ts';
import type { Repository } from '../registry/repository.ts';
import { MAX_BYTES, sizeOf } from './content.ts';
import { secretValue } from './secret-value.ts';
import {
  type Fetched,
  type FetchedSource,
  type ImageSignature,
  type OciRequest,
  SourceError,
  type SourceOwner,
} from './source.ts';

export interface FetchOciWith {
  readonly registries: RegistryClient;
  /** Returns a Secret of the namespace. Rejects with SourceError if it does not exist. */
  secret(namespace: string, name: string): Promise<Secret>;
}

const TITLE = 'org.opencontainers.image.title';
const MAX_LAYERS = 50;
/** Cosign's names of the objects that it stores beside an image. */
const SIGNATURE = 'dev.cosignproject.cosign/signature';
const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json';
const MAX_SIGNATURES = 50;
const MAX_PAYLOAD = 64 << 10;

/** `before`: the result of the last pull. Rejects with SourceError. */
export async function fetchOci(
  deps: FetchOciWith,
  owner: SourceOwner,
  request: OciRequest,
  before: FetchedSource | undefined,
): Promise<FetchedSource> {
  try {
    const { tag, digest: pinned, ...name } = parseReference(request.reference);
    const credentials = await credentialsOf(deps, owner, request);
    const repository = deps.registries.repository(name, { credentials, plainHttp: request.plainHttp });
    const wanted = pinned ?? tag ?? 'latest';
    const digest = pinned ?? (await repository.resolve(wanted));
    if (digest === undefined) throw new SourceError('SourceUnavailable', `${request.reference} does not exist`);
    const isKnown = before?.content.digest === digest;
    const content = isKnown ? before.content : await pull(repository, digest);
    const signatures = request.signatures ? await pullSignatures(repository, digest) : undefined;
    const unsigned = signatures?.length === 0 ? `${digest} is not signed: there is no ${tagOf(digest)}` : undefined;
    return {
      content,
      fetchedAt: isKnown ? before.fetchedAt : new Date(),
      ...(signatures ? { signatures } : {}),
      ...(unsigned === undefined ? {} : { unsigned }),
      // A signature may be added later than the content.
      final: pinned !== undefined && unsigned === undefined,
    };
  } catch (error) {
    throw sourceError(error, request);
  }
}

async function credentialsOf(
  { secret }: FetchOciWith,
  { namespace }: SourceOwner,
  { pullSecret }: OciRequest,
): Promise<DockerConfig> {
  if (pullSecret === undefined) return [];
  const json = secretValue(await secret(namespace, pullSecret), DOCKER_CONFIG_KEY);
  try {
    return parseDockerConfig(json);
  } catch (error) {
    const what = `key "${DOCKER_CONFIG_KEY}" of Secret "${pullSecret}"`;
    throw new SourceError('SourceInvalid', `${what}: ${messageOf(error)}`, { cause: error });
  }
}

async function pull(repository: Repository, digest: string): Promise<Fetched> {
  const { layers } = parseImageManifest(await imageOf(repository, await repository.manifest(digest)));
  if (layers.length > MAX_LAYERS) throw new SourceError('SourceInvalid', `it has more than ${MAX_LAYERS} layers`);
  const size = layers.reduce((sum, layer) => sum + layer.size, 0);
  if (size > MAX_BYTES) throw new SourceError('SourceInvalid', `it has ${size} bytes, more than ${MAX_BYTES}`);
  const files = new Map<string, Uint8Array>();
  for (const layer of layers) {
    for (const [name, bytes] of await filesOf(repository, layer)) files.set(name, bytes);
    if (sizeOf(files) > 2 * MAX_BYTES) {
      throw new SourceError('SourceInvalid', `its files have more than ${2 * MAX_BYTES} bytes`);
    }
  }
  return { digest, files, size: sizeOf(files) };
}

/** Returns the only image of an index; provenance that builders attach does not count. */
async function imageOf(repository: Repository, pulled: PulledManifest): Promise<PulledManifest> {
  const parsed: unknown = JSON.parse(pulled.bytes.toString('utf8'));
  const listed: unknown = isRecord(parsed) ? parsed['manifests'] : undefined;
  if (!Array.isArray(listed)) return pulled;
  const images = listed.flatMap((each) => {
    const { digest, annotations } = isRecord(each) ? each : {};
    if (typeof digest !== 'string' || !DIGEST.test(digest)) return [];
    return isRecord(annotations) && annotations['vnd.docker.reference.type'] !== undefined ? [] : [digest];
  });
  const [only] = images;
  if (only === undefined || images.length > 1) {
    throw new SourceError('SourceInvalid', `it is an index of ${images.length} images: name one of them by its digest`);
  }
  return repository.manifest(only);
}

async function filesOf(repository: Repository, layer: Descriptor): Promise<ReadonlyMap<string, Uint8Array>> {
  const bytes = await repository.blob(layer, MAX_BYTES);
  if (isGzip(bytes) || isTar(bytes)) return unpack(bytes);
  const title = layer.annotations?.[TITLE] ?? (isModule(bytes) ? 'plugin.wasm' : undefined);
  if (title === undefined) {
    throw new SourceError('SourceInvalid', `layer ${layer.digest} is not a tar archive and has no annotation ${TITLE}`);
  }
  return new Map([[title, bytes]]);
}

function isModule(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === '\0asm';
}

async function pullSignatures(repository: Repository, digest: string): Promise<readonly ImageSignature[]> {
  if ((await repository.resolve(tagOf(digest))) === undefined) return [];
  const { layers } = parseImageManifest(await repository.manifest(tagOf(digest)));
  const found: ImageSignature[] = [];
  for (const layer of layers.slice(0, MAX_SIGNATURES)) {
    const signature = layer.annotations?.[SIGNATURE];
    if (signature === undefined || layer.mediaType !== SIMPLE_SIGNING) continue;
    found.push({ payload: await repository.blob(layer, MAX_PAYLOAD), signature });
  }
  return found;
}

/** Returns the tag under which cosign stores the signatures of an image. */
function tagOf(digest: string): string {
  return `${digest.replace(':', '-')}.sig`;
}

function sourceError(error: unknown, { reference }: OciRequest): unknown {
  if (error instanceof SourceError) {
    return error.message.includes(reference) ? error : new SourceError(error.reason, `${reference}: ${error.message}`);
  }
  if (error instanceof ArchiveError) return new SourceError('SourceInvalid', `${reference}: ${error.message}`);
  if (error instanceof SyntaxError) return new SourceError('SourceInvalid', `${reference}: its manifest is not JSON`);
  if (!(error instanceof RegistryError)) return error;
  if (error.failure === 'invalid') return new SourceError('InvalidSpec', error.message, { cause: error });
  const reason = error.failure === 'corrupt' || error.failure === 'too-large' ? 'SourceInvalid' : 'SourceUnavailable';
  // The gateway's own advice names the option, which here is the operator's.
  const hint = error.failure === 'refused' && error.message.endsWith('--egress-allow') ? ' of the operator' : '';
  return new SourceError(reason, `${error.message}${hint}`, { cause: error });
}
