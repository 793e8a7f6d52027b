/** A request to the API server in terms of RBAC. */
export interface RequestInfo {
  /** get, list, watch, create, update, patch, delete or deletecollection. */
  readonly verb: string;
  /** '' is the core group. */
  readonly group: string;
  /** Plural, with the subresource: `gatewayprojects/status`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

const VERBS: { readonly [method: string]: string } = { POST: 'create', PUT: 'update', PATCH: 'patch' };

/**
 * Returns undefined for paths that are not resources, such as `/readyz`. `path` has no query; `watching` is the value
 * of `watch`.
 */
export function requestInfo(method: string, path: string, watching: boolean): RequestInfo | undefined {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  const root = parts.shift();
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'apis' ? (parts.shift() ?? '') : '';
  parts.shift();
  let namespace: string | undefined;
  // `namespaces/NAME` alone is the Namespace itself.
  if (parts[0] === 'namespaces' && parts.length > 2) {
    namespace = parts[1];
    parts.splice(0, 2);
  }
  const [plural, name, subresource] = parts;
  if (plural === undefined || plural === '') return undefined;
  const one = name !== undefined;
  const verb =
    VERBS[method] ??
    (method === 'DELETE' ? (one ? 'delete' : 'deletecollection') : watching ? 'watch' : one ? 'get' : 'list');
  return {
    verb,
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    ...(namespace === undefined ? {} : { namespace }),
    ...(one ? { name } : {}),
  };
}
