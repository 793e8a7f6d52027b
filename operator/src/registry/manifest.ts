/** Manifests, read from bytes that a registry gave: unknown until checked here. */
import { isRecord } from '../kube/kube-object.ts';
import { RegistryError } from './error.ts';
import { DIGEST } from './reference.ts';

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  readonly annotations?: { readonly [name: string]: string };
}

/** Manifest of an image or artifact. */
export interface ImageManifest {
  readonly artifactType?: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations: { readonly [name: string]: string };
}

/** The manifest as pulled, which its digest covers. */
export interface PulledManifest {
  /** `sha256:<hex>` of the bytes. */
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const MAX_LAYERS = 500;

/**
 * Throws RegistryError (`corrupt`) if it is not an image manifest, such as an index of images for several platforms.
 */
export function parseImageManifest({ bytes, digest }: PulledManifest): ImageManifest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw corrupt(digest, 'it is not JSON');
  }
  if (!isRecord(parsed) || parsed['schemaVersion'] !== 2) throw corrupt(digest, 'its schemaVersion is not 2');
  if (Array.isArray(parsed['manifests'])) {
    throw corrupt(digest, 'it is an index of several images: name one of them by its digest');
  }
  const layers = parsed['layers'];
  if (!Array.isArray(layers) || layers.length > MAX_LAYERS)
    throw corrupt(digest, `it has no list of up to ${MAX_LAYERS} layers`);
  const type = parsed['artifactType'];
  return {
    ...(typeof type === 'string' ? { artifactType: type } : {}),
    config: parseDescriptor(parsed['config'], digest),
    layers: layers.map((layer) => parseDescriptor(layer, digest)),
    annotations: parseAnnotations(parsed['annotations']),
  };
}

function parseDescriptor(value: unknown, of: string): Descriptor {
  const { mediaType, digest, size, annotations } = isRecord(value) ? value : {};
  if (typeof mediaType !== 'string' || typeof digest !== 'string' || !DIGEST.test(digest)) {
    throw corrupt(of, 'a descriptor in it has no mediaType or no sha256 digest');
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw corrupt(of, 'a descriptor in it has no size');
  return {
    mediaType,
    digest,
    size,
    ...(annotations === undefined ? {} : { annotations: parseAnnotations(annotations) }),
  };
}

function parseAnnotations(value: unknown): { readonly [name: string]: string } {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function corrupt(digest: string, why: string): RegistryError {
  return new RegistryError('corrupt', `the manifest ${digest} cannot be used: ${why}`);
}
