/** Mutual TLS to an upstream, with a real nginx: `UPSTREAM_TLS_URL` and `TLS_DIR` (ca, client, rogue-client) name it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, jsonOf, refusedStart, startGateway } from './gateway.ts';

const url = process.env['UPSTREAM_TLS_URL'] ?? '';
const dir = process.env['TLS_DIR'] ?? '';

interface Seen {
  readonly tls_client_verify?: string;
  readonly tls_client_dn?: string;
}

function document() {
  const pem = (name: string) => ({ client_cert: `${dir}/${name}.crt`, client_key: `${dir}/${name}.key` });
  const proxy = (tls?: object) => ({
    get: {
      responses: { 200: { description: 'OK' } },
      'x-gw-dispatch': { name: 'http-upstream', config: { url, path: '/echo', ...(tls ? { tls } : {}) } },
    },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'TLS', version: '1' },
    paths: {
      '/client': proxy({ ...pem('client'), ca: `${dir}/ca.crt` }),
      '/anonymous': proxy({ ca: `${dir}/ca.crt` }),
      '/rogue': proxy({ ...pem('rogue-client'), ca: `${dir}/ca.crt` }),
      '/unknown-ca': proxy(),
    },
  };
}

describe.skipIf(url === '' || dir === '')('mutual TLS to an upstream (needs UPSTREAM_TLS_URL and TLS_DIR)', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway(await compileSpec(document(), ['http-upstream']), { env: { GW_SECRETS_DIR: dir } });
  });
  afterAll(async () => {
    await gw?.stop();
  });
  const seen = async (path: string) => jsonOf<Seen>(await fetch(gw.url + path));

  it('presents the client certificate', async () => {
    expect(await seen('/client')).toMatchObject({ tls_client_verify: 'SUCCESS' });
  });

  it('presents none without one', async () => {
    expect(await seen('/anonymous')).toMatchObject({ tls_client_verify: 'NONE' });
  });

  it('leaves it to the upstream to refuse a certificate of another authority', async () => {
    const response = await fetch(`${gw.url}/rogue`);
    expect(response.status).toBe(400);
  });

  it('refuses an upstream whose certificate no known authority signed', async () => {
    const response = await fetch(`${gw.url}/unknown-ca`);
    expect([response.status, (await jsonOf(response))['type']]).toEqual([502, 'urn:gw:error:upstream-failed']);
    expect(JSON.stringify(await gw.logged(({ msg }) => msg === 'upstream failed'))).toMatch(/certificate/);
  });

  it('does not start where the files lie outside of the secrets directory', async () => {
    const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs');
    const folder = mkdtempSync(`${(await import('node:os')).tmpdir()}/gw-tls-`);
    try {
      writeFileSync(`${folder}/a.gwa`, await compileSpec(document(), ['http-upstream']));
      const args = ['--artifact', `${folder}/a.gwa`, '--listen', '127.0.0.1:0', '--admin-bind', 'off'];
      const result = await refusedStart(args, { GW_SECRETS_DIR: folder });
      expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('outside of GW_SECRETS_DIR') });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
