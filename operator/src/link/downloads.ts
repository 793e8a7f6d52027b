/** `GET /artifacts/NAMESPACE/NAME/ARCHIVE`: the file of a revision, for the data planes of its project. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayProject } from '../api/resources.ts';
import type { RequestHandler } from '../runtime/https-server.ts';
import { type Admitted, type AdmitWith, admit } from './admission.ts';
import type { ArtifactFile, ArtifactFiles } from './artifact-files.ts';
import type { TokenReviewer } from './token-reviewer.ts';

export const ARTIFACTS = '/artifacts/';

export function artifactPath({ metadata }: GatewayProject, archive: string): string {
  return `${ARTIFACTS}${metadata.namespace}/${metadata.name}/${archive}`;
}

export interface DownloadsWith extends AdmitWith {
  readonly reviewer: Pick<TokenReviewer, 'review'>;
  readonly files: ArtifactFiles;
  /** Called with read errors. */
  readonly failed: (error: unknown) => void;
}

export function downloads(deps: DownloadsWith): RequestHandler {
  return async (request, response, url) => {
    if (request.method !== 'GET') return refuse(response, 405, 'Artifacts are read with GET.');
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
    let admitted: Admitted | undefined;
    try {
      const caller = token === undefined ? undefined : await deps.reviewer.review(token);
      if (!caller) return refuse(response, 401, 'Send a service account token whose audience is this operator.');
      admitted = await admit(deps, caller);
    } catch (error) {
      deps.failed(error);
      return refuse(response, 503, 'The operator cannot verify the token at the moment.');
    }
    const archive = url.pathname.split('/').at(-1) ?? '';
    const revision = admitted?.project.status?.revisions?.find((kept) => kept.archive === archive);
    // The caller cannot tell another project's artifact from a missing one.
    if (!admitted || !revision || url.pathname !== artifactPath(admitted.project, archive)) {
      return refuse(response, 404, 'There is no such artifact for this pod.');
    }
    try {
      send(request, response, await deps.files.get(admitted.project, revision));
    } catch (error) {
      deps.failed(error);
      refuse(response, 503, 'The artifact cannot be read at the moment.');
    }
  };
}

/** Sends the whole file, or continues an interrupted download. */
function send(request: IncomingMessage, response: ServerResponse, { bytes, sha256 }: ArtifactFile): void {
  const etag = `"${sha256}"`;
  const { range, 'if-range': ifRange } = request.headers;
  const from = ifRange === etag ? Number(/^bytes=(\d{1,12})-$/.exec(range ?? '')?.[1] ?? 0) : 0;
  const part = from > 0 && from < bytes.length ? bytes.subarray(from) : bytes;
  response.writeHead(part === bytes ? 200 : 206, {
    etag,
    'content-type': 'application/gzip',
    'content-length': part.length,
    ...(part === bytes ? {} : { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
  });
  response.end(part);
}

function refuse(response: ServerResponse, status: number, detail: string): void {
  if (response.headersSent) return void response.destroy();
  const titles: { readonly [status: number]: string } = {
    401: 'Unauthorized',
    404: 'Not Found',
    405: 'Method Not Allowed',
    503: 'Service Unavailable',
  };
  const body = JSON.stringify({ type: 'about:blank', title: titles[status], status, detail });
  response.writeHead(status, {
    'content-type': 'application/problem+json',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 503 ? { 'retry-after': '1' } : {}),
  });
  response.end(body);
}
