import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const FINGERPRINT = 'ab'.repeat(32);
const clientCertificate = {
  subject: 'CN=client,O=Example',
  commonName: 'client',
  fingerprint: FINGERPRINT,
  uris: ['https://other.example', 'spiffe://example.org/client'],
  dnsNames: ['client.example.org'],
  emails: ['client@example.org'],
};

describe('mtls-auth', () => {
  it.each([
    ['fingerprint', { fingerprint: `${'AB:'.repeat(31)}AB` }],
    ['subject', { subject: 'CN=client,O=Example' }],
    ['common name', { subject_cn: 'client' }],
    ['URI', { san_uri: 'spiffe://example.org/client' }],
    ['DNS name', { san_dns: 'CLIENT.example.org' }],
    ['email address', { san_email: 'client@example.org' }],
    ['several at once', { subject_cn: 'client', san_uri: 'spiffe://example.org/client' }],
  ])('knows a client by its %s', async (_what, wanted) => {
    const consumers = [
      { id: 'other', subject_cn: 'client', san_uri: 'spiffe://example.org/other' },
      { id: 'billing', groups: ['services', 'a,b'], ...wanted },
    ];
    const { outcome, requestHeaders, context } = await kit.onRequest({ config: { consumers }, clientCertificate });
    expect(outcome).toBe('continue');
    expect(requestHeaders).toEqual({
      'x-auth-consumer': 'billing',
      'x-auth-consumer-groups': 'services,a%2Cb',
      'x-auth-cert-subject': 'CN=client,O=Example',
      'x-auth-cert-fingerprint': FINGERPRINT,
    });
    expect(context).toEqual({ 'auth.consumer': 'billing' });
  });

  it.each([
    ['no certificate', undefined, {}, 'a client certificate is required'],
    ['one that fits no entry', clientCertificate, { consumers: [{ id: 'x', subject_cn: 'Client' }] }, 'not accepted'],
    ['no consumers', clientCertificate, {}, 'not accepted'],
    ['one that has expired since', { ...clientCertificate, notAfter: Date.now() - 1 }, {}, 'is required'],
    ['one without what names it', { fingerprint: FINGERPRINT }, { consumer_from: 'san_uri' }, 'not accepted'],
    [
      'a part of a URI',
      clientCertificate,
      { consumers: [{ id: 'x', san_uri: 'spiffe://example.org/' }] },
      'not accepted',
    ],
  ])('answers 401 to %s', async (_what, certificate, config, detail) => {
    const headers = { 'x-forwarded-client-cert': 'Subject="CN=client";URI=spiffe://example.org/client' };
    const init = { config, headers, ...(certificate ? { clientCertificate: certificate } : {}) };
    const { outcome, answer, problem, requestHeaders } = await kit.onRequest(init);
    expect(outcome).toBe('answered');
    expect(answer?.headers['www-authenticate']).toBe('ClientCertificate realm="api"');
    expect(problem).toMatchObject({ type: 'urn:gw:error:unauthorized', status: 401 });
    expect(problem?.['detail']).toContain(detail);
    expect(requestHeaders).not.toHaveProperty('x-auth-consumer');
  });

  it.each([
    ['subject_cn', 'client'],
    ['subject', 'CN=client,O=Example'],
    ['san_uri', 'https://other.example'],
    ['san_dns', 'client.example.org'],
    ['san_email', 'client@example.org'],
    ['fingerprint', FINGERPRINT],
  ])('names whom no entry knows by %s', async (consumer_from, id) => {
    const config = { consumer_from, consumers: [{ id: 'x', subject_cn: 'somebody' }] };
    const { requestHeaders } = await kit.onRequest({ config, clientCertificate });
    expect(requestHeaders).toMatchObject({ 'x-auth-consumer': id, 'x-auth-consumer-groups': '' });
  });

  it('refuses an entry that would fit every certificate', async () => {
    await expect(kit.bind({ consumers: [{ id: 'x' }] })).rejects.toThrow(/consumers/);
  });
});
