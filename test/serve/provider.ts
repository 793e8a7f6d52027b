/** A real OpenID provider (`OIDC_ISSUER`, `OIDC_CLIENT_ID`, `OIDC_CLIENT_SECRET`) that also signs what tests want. */
import { jsonOf } from './gateway.ts';

export const PROVIDER = process.env['OIDC_ISSUER'] ?? '';
export const CLIENT = { id: process.env['OIDC_CLIENT_ID'] ?? '', secret: process.env['OIDC_CLIENT_SECRET'] ?? '' };

async function post(path: string, body: Record<string, string>): Promise<Response> {
  const credentials = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64');
  return fetch(PROVIDER + path, {
    method: 'POST',
    headers: { authorization: `Basic ${credentials}` },
    body: new URLSearchParams(body),
  });
}

/** A token by the client credentials grant: a JWT where `resource` names its audience, else an opaque one. */
export async function grantedToken(more: { scope?: string; resource?: string; claims?: string } = {}): Promise<string> {
  const response = await post('/token', { grant_type: 'client_credentials', ...more });
  const { access_token } = await jsonOf<{ access_token: string }>(response);
  return access_token;
}

export async function revoke(token: string): Promise<void> {
  await post('/token/revocation', { token });
}

/** Any token with the provider's own signature. */
export async function signedByProvider(claims: object, header: object = {}): Promise<string> {
  const response = await fetch(`${PROVIDER}/test/sign`, { method: 'POST', body: JSON.stringify({ claims, header }) });
  const { access_token } = await jsonOf<{ access_token: string }>(response);
  return access_token;
}
