/** Sources of ApiSpecs and PluginRefs, and the results of fetching them (docs/decisions.md#references-stay-inside). */
import type { ReasonName } from '../api/reasons.ts';

/** The object that owns a source, which is fetched for it alone, with the Secrets of its namespace. */
export interface SourceOwner {
  readonly kind: 'ApiSpec' | 'PluginRef';
  readonly namespace: string;
  readonly name: string;
}

export function ownerText({ kind, namespace, name }: SourceOwner): string {
  return `${kind}/${namespace}/${name}`;
}

/** A key of a Secret in the owner's namespace. */
interface SecretKey {
  readonly name: string;
  readonly key: string;
}

export interface UrlRequest {
  readonly type: 'url';
  readonly url: string;
  /** Expected SHA-256, in hex: then the file is fetched once. */
  readonly sha256?: string | undefined;
  /** URL of the checksum, read again each interval. */
  readonly sha256Url?: string | undefined;
  readonly authorization?: SecretKey | undefined;
  /** URL of a signature of the file; absent if no signature is required. */
  readonly signatureUrl?: string | undefined;
  readonly intervalSeconds: number;
}

export interface OciRequest {
  readonly type: 'oci';
  readonly reference: string;
  /** Name of a Secret of type kubernetes.io/dockerconfigjson. */
  readonly pullSecret?: string | undefined;
  readonly plainHttp: boolean;
  /** Whether cosign's signatures are needed too. */
  readonly signatures: boolean;
  readonly intervalSeconds: number;
}

export type SourceRequest = UrlRequest | OciRequest;

/** A signature as `cosign sign` makes it: of a payload that names the image. */
export interface ImageSignature {
  readonly payload: Uint8Array;
  /** Base64. */
  readonly signature: string;
}

export interface Fetched {
  /** `sha256:HEX` of the manifest, or the sha256 of the file in hex. */
  readonly digest: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The file of a URL as received, which its signature covers. */
  readonly file?: Uint8Array;
  /** Bytes that it takes in memory. */
  readonly size: number;
}

/** An owner's fetch of a source, beside the content that others may share. */
export interface FetchedSource {
  readonly content: Fetched;
  readonly fetchedAt: Date;
  /** Signature of the file of a URL, in base64 or hex. */
  readonly signature?: string;
  /** Signatures of an image. */
  readonly signatures?: readonly ImageSignature[];
  /** Why a required signature is missing. */
  readonly unsigned?: string;
  /** The source cannot change any more. */
  readonly final: boolean;
  /** The last answer of sha256Url, for a conditional request. */
  readonly checksum?: { readonly etag: string; readonly sha256: string };
}

/** Why a fetch failed; the message never contains a credential or a query. */
export class SourceError extends Error {
  readonly reason: ReasonName;

  constructor(reason: ReasonName, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface Problem {
  readonly reason: ReasonName;
  readonly message: string;
}

/** State of a source. `problem` beside content: the last fetch failed. */
export type SourceState =
  | { readonly state: 'fetching' }
  | { readonly state: 'failed'; readonly problem: Problem }
  | { readonly state: 'fetched'; readonly source: FetchedSource; readonly problem?: Problem };
