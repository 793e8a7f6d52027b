/** Operations behind an authentication by token, and asking for them. */
import { compileSpec, type Echo, type Gateway, type GatewayOptions, jsonOf, startGateway } from './gateway.ts';

export interface Secured {
  readonly plugin: 'jwt-auth' | 'oauth2-auth' | 'oidc-auth';
  readonly config: object;
}

/** The document: each path behind its plugin, answered by the upstream, or by `mock` without one. */
export function securedDocument(paths: Readonly<Record<string, Secured>>, upstream?: string): object {
  const dispatch = upstream
    ? { name: 'http-upstream', config: { url: upstream } }
    : { name: 'mock', config: { body: '{"ok":true}' } };
  const operation = ({ plugin, config }: Secured) => ({
    security: [{ bearer: [] }],
    responses: {},
    'x-gw-middlewares': [{ name: plugin, config }],
    'x-gw-dispatch': dispatch,
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Secured', version: '1' },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths: Object.fromEntries(Object.entries(paths).map(([path, secured]) => [path, { get: operation(secured) }])),
  };
}

export async function startSecured(
  paths: Readonly<Record<string, Secured>>,
  options: GatewayOptions & { readonly upstream?: string } = {},
): Promise<Gateway> {
  const plugins = [...new Set(Object.values(paths).map(({ plugin }) => plugin))];
  const artifact = await compileSpec(securedDocument(paths, options.upstream), [
    ...plugins,
    options.upstream ? 'http-upstream' : 'mock',
  ]);
  return startGateway(artifact, options);
}

export interface TokenAnswer {
  readonly status: number;
  readonly challenge: string | null;
  /** The problem document, or what the upstream echoes. */
  readonly body: Record<string, unknown> & Partial<Echo>;
}

/** Asks with a bearer token; null: without credentials. */
export async function ask(
  url: string,
  token: string | null,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const credentials = token === null ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers: { ...headers, ...credentials } });
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    body: await jsonOf(response),
  };
}

/** The headers that say who the caller is, as the upstream got them. */
export function identityOf({ body }: TokenAnswer): Record<string, string> {
  return Object.fromEntries(Object.entries(body.headers ?? {}).filter(([name]) => name.startsWith('x-auth-')));
}
