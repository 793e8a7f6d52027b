/** What is known of tokens for tools (docs/mcp.md#authorization). */
import { describe, expect, it } from 'vitest';
import { readArtifact } from '../../artifact/read.ts';
import { loadBuiltinPlugin } from '../../plugins/builtin.ts';
import { compile } from '../index.ts';

const SCHEMES = {
  oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/tenant/.well-known/openid-configuration' },
  meta: {
    type: 'oauth2',
    flows: {},
    oauth2MetadataUrl: 'https://auth.example/.well-known/oauth-authorization-server/shop',
  },
  plain: { type: 'oauth2', flows: {} },
  key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
};

async function toolOf(security: readonly object[], middlewares: readonly object[] = [], mcp: object = {}) {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1' },
    'x-gw-mcp': { enabled: true, ...mcp },
    components: { securitySchemes: SCHEMES },
    paths: {
      '/books': {
        get: {
          security,
          'x-gw-middlewares': middlewares,
          'x-gw-dispatch': { name: 'mock', config: {} },
          responses: {},
        },
      },
    },
  };
  const files = [{ name: 'api.json', bytes: Buffer.from(JSON.stringify(document)) }];
  const plugins = ['mock', 'jwt-auth', 'oidc-auth', 'oauth2-auth'].map((name) => loadBuiltinPlugin(name));
  const project = { specs: ['api.json'], files, plugins, flags: { allowPlaintext: true } };
  const result = await compile(project, { loadsPlugins: false });
  const found = result.diagnostics.map(({ code, pointer }) => `${code} ${pointer}`);
  const tools = result.ok ? (await readArtifact(result.artifact)).tools : null;
  return { found, scopes: tools?.tools[0]?.scopes, authorization: tools?.authorization };
}

describe('issuers and scopes', () => {
  it('of a token come from requirements and plugins, and no reference is taken for an issuer', async () => {
    const security = [{ key: [] }, { oidc: ['read'], plain: ['list'] }, { meta: ['admin'] }];
    const middlewares = [
      { name: 'jwt-auth', config: { issuer: 'https://jwt.example', jwks_url: 'https://jwt.example/keys' } },
      { name: 'oidc-auth', config: { issuer_url: 'env://ISSUER', required_scopes: 'write read' } },
    ];
    expect(await toolOf(security, middlewares)).toMatchObject({
      // Of the first alternative: any one is enough.
      scopes: ['list', 'read', 'write'],
      authorization: {
        servers: ['https://auth.example/shop', 'https://id.example/tenant', 'https://jwt.example'],
        scopes: ['list', 'read', 'write'],
      },
    });
  });

  it('are none where only API keys are known, or an issuer that is no URL', async () => {
    const middlewares = [{ name: 'jwt-auth', config: { issuer: 'books', jwks_url: 'https://jwt.example/keys' } }];
    expect(await toolOf([{ key: [] }], middlewares)).toMatchObject({ scopes: undefined, authorization: undefined });
  });

  it.each([
    [{ servers: ['login.example'] }, '/x-gw-mcp/authorization/servers'],
    [{ servers: ['https://user:secret@login.example'] }, '/x-gw-mcp/authorization/servers'],
    [{ resource: 'https://api.example/mcp?x=1' }, '/x-gw-mcp/authorization/resource'],
    [{ scopes: ['a" b'] }, '/x-gw-mcp/authorization/scopes'],
    [{ issuers: [] }, '/x-gw-mcp/authorization/issuers'],
  ])('that %j says are refused', async (authorization, pointer) => {
    const { found } = await toolOf([], [], { authorization });
    expect(found).toContain(`E1012 ${pointer}`);
  });
});
