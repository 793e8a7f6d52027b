/**
 * E1080: `security` of a document admits a credential's header (docs/reference/gateway.md#header-admission); only an
 * authentication middleware asks for the credential.
 */
import type { Operation } from '../artifact/format.ts';
import type { Diagnostics } from '../spec/diagnostic.ts';
import { type Documents, placeOf } from '../spec/documents.ts';
import { get } from '../spec/json.ts';
import type { DeclaredOperation } from '../spec/operations.ts';
import { namedSchemes } from './operations/security.ts';
import type { PreparedPlugin } from './plugins/plugins.ts';
import { MOCK } from './project/project.ts';

/** Operations that a message names. */
const SHOWN = 3;
/** By type of a scheme; types of AsyncAPI that are missing describe how the gateway connects to a broker. */
const MIDDLEWARES: Readonly<Record<string, string>> = {
  apiKey: 'apikey-auth',
  http: 'jwt-auth',
  httpApiKey: 'apikey-auth',
  mutualTLS: 'mtls-auth',
  oauth2: 'jwt-auth',
  openIdConnect: 'oidc-auth',
  userPassword: 'basic-auth',
};

interface Route {
  readonly declared: DeclaredOperation;
  readonly operation: Operation;
}

/** Warns once for each document of operations that require credentials which no middleware checks. */
export function warnOfUncheckedCredentials(
  routed: readonly Route[],
  plugins: readonly PreparedPlugin[],
  { documents, diagnostics }: { readonly documents: Documents; readonly diagnostics: Diagnostics },
): void {
  const authenticates = new Set(plugins.flatMap(({ name, manifest }) => (manifest.authenticates ? [name] : [])));
  const unchecked = routed.flatMap(({ declared, operation: { dispatch, middlewares, method, path } }) => {
    if (dispatch.name === MOCK || middlewares.some(({ name }) => authenticates.has(name))) return [];
    const middleware = middlewareOf(declared, documents);
    return middleware === null ? [] : [{ declared, middleware, name: `${method} ${path}` }];
  });
  for (const found of Map.groupBy(unchecked, ({ declared }) => declared.spec).values()) {
    const [{ declared, middleware } = {}] = found;
    const requirement = declared?.security[0];
    if (!requirement) continue;
    const names = found.slice(0, SHOWN).map(({ name }) => name);
    const more = found.length > SHOWN ? ` and ${found.length - SHOWN} more` : '';
    diagnostics.add(
      'E1080',
      placeOf(requirement),
      `no middleware checks the credentials that "security" requires: ${names.join(', ')}${more}`,
      `Add ${middleware} to x-gw-middlewares, at the root of the document for all operations. Nothing is missing if the upstream checks the credentials.`,
    );
  }
}

/** Returns the middleware that checks the first requirement; null if the operation admits callers without credentials. */
function middlewareOf({ channel, spec, security }: DeclaredOperation, documents: Documents): string | null {
  const alternatives = channel
    ? security.map((scheme) => [scheme])
    : security.map((requirement) => namedSchemes(spec, requirement, documents).map(({ scheme }) => scheme));
  if (alternatives.some(({ length }) => length === 0)) return null;
  const [scheme] = alternatives[0] ?? [];
  const value = scheme && documents.follow(scheme)?.value;
  const type = get(value, 'type');
  if (type === 'http' && String(get(value, 'scheme')).toLowerCase() === 'basic') return 'basic-auth';
  return typeof type === 'string' && Object.hasOwn(MIDDLEWARES, type) ? (MIDDLEWARES[type] ?? null) : null;
}
