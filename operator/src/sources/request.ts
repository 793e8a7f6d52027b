/** Builds the fetch request of an ApiSpec or a PluginRef. */
import type { ApiSpec, PluginRef } from '../api/resources.ts';
import type { SourceOwner, SourceRequest } from './source.ts';

type Remote = Pick<ApiSpec['spec']['source'], 'oci' | 'url'>;

export function ownerOfDocument({ metadata }: ApiSpec): SourceOwner {
  return { kind: 'ApiSpec', namespace: metadata.namespace ?? 'default', name: metadata.name };
}

export function ownerOfPlugin({ metadata }: PluginRef): SourceOwner {
  return { kind: 'PluginRef', namespace: metadata.namespace ?? 'default', name: metadata.name };
}

/** Returns undefined if the document is in the cluster. */
export function documentRequest({ spec }: ApiSpec): SourceRequest | undefined {
  return remoteRequest(spec.source, undefined, false);
}

/** Returns undefined if the plugin comes with gw or is in the cluster. */
export function pluginRequest({ spec: { source, verify } }: PluginRef): SourceRequest | undefined {
  const ownSignature = verify === undefined || verify.signature !== undefined;
  const signatureUrl =
    ownSignature || !source.url ? undefined : (verify.signatureUrl ?? besides(source.url.url, '.sig'));
  return remoteRequest(source, signatureUrl, verify !== undefined);
}

function remoteRequest(
  { oci, url }: Remote,
  signatureUrl: string | undefined,
  signatures: boolean,
): SourceRequest | undefined {
  if (url) {
    const { sha256, sha256Url, authorization, intervalSeconds } = url;
    return { type: 'url', url: url.url, sha256, sha256Url, authorization, signatureUrl, intervalSeconds };
  }
  if (!oci) return undefined;
  const { reference, pullSecret, plainHttp, intervalSeconds } = oci;
  return { type: 'oci', reference, pullSecret, plainHttp, signatures, intervalSeconds };
}

/** Returns the URL of the file beside it, with its query. */
function besides(text: string, suffix: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.pathname += suffix;
  return url.href;
}
