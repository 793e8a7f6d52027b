/** Certificates of the operator's listener, over years. */
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type CertificateFiles, certificatesOf, renew } from './serving-state.ts';

const DAY = 24 * 3600 * 1000;
const START = Date.parse('2026-01-01T00:00:00Z');
const names = ['gw-webhooks.gw-system.svc', 'gw-link.gw-system.svc', '10.99.0.1', '::1'];
const at = (days: number) => new Date(START + days * DAY);

/** Whether a client that trusts `bundle` accepts the certificate at that time. */
function accepts(bundle: string, { cert }: CertificateFiles, when: Date): boolean {
  const leaf = new X509Certificate(cert);
  const valid = (each: X509Certificate) => each.validFromDate <= when && when < each.validToDate;
  const trusted = certificatesOf(bundle).some(
    (authority) => valid(authority) && leaf.checkIssued(authority) && leaf.verify(authority.publicKey),
  );
  return trusted && valid(leaf) && leaf.checkHost('gw-link.gw-system.svc') !== undefined;
}

describe('certificates of the listener', () => {
  it('are for every name and address, of one authority, and stay while nothing is due', () => {
    const files = renew(undefined, { names }, at(0));
    const leaf = new X509Certificate(files.cert);
    expect(leaf.subjectAltName).toBe(
      'DNS:gw-webhooks.gw-system.svc, DNS:gw-link.gw-system.svc, IP Address:10.99.0.1, IP Address:0:0:0:0:0:0:0:1',
    );
    expect(leaf.ca).toBe(false);
    expect(certificatesOf(files.ca)).toHaveLength(1);
    expect(accepts(files.ca, files, at(1))).toBe(true);
    expect(renew(files, { names }, at(1))).toBe(files);
  });

  it('are renewed when a third of their time is left, by the same authority', () => {
    const files = renew(undefined, { names }, at(0));
    expect(renew(files, { names }, at(59))).toBe(files);
    const renewed = renew(files, { names }, at(61));
    expect(renewed.cert).not.toBe(files.cert);
    expect(renewed.ca).toBe(files.ca);
    expect(accepts(files.ca, renewed, at(120))).toBe(true);
  });

  it('are made anew when a name is added', () => {
    const files = renew(undefined, { names }, at(0));
    const renewed = renew(files, { names: [...names, 'other.gw-system.svc'] }, at(1));
    expect(new X509Certificate(renewed.cert).subjectAltName).toContain('other.gw-system.svc');
    expect(renewed.ca).toBe(files.ca);
  });

  it('are accepted at any time by whoever took the bundle within the last year, over thirty years', () => {
    const bundles: { readonly day: number; readonly ca: string }[] = [];
    let files: CertificateFiles | undefined;
    let most = 0;
    for (let day = 0; day < 30 * 365; day += 20) {
      files = renew(files, { names }, at(day));
      bundles.push({ day, ca: files.ca });
      most = Math.max(most, certificatesOf(files.ca).length);
      const taken = bundles.filter((bundle) => day - bundle.day <= 365);
      expect([taken[0]!, taken.at(-1)!].map(({ ca }) => accepts(ca, files!, at(day)))).toEqual([true, true]);
    }
    expect(most).toBe(2);
  });

  it('are replaced where somebody has spoiled them', () => {
    const files = renew(undefined, { names }, at(0));
    const other = renew(undefined, { names }, at(0));
    const spoiled: readonly CertificateFiles[] = [
      { ca: '', caKey: '', cert: '', key: '' },
      { ...files, ca: 'no PEM' },
      { ...files, caKey: other.caKey },
      { ...files, key: other.key },
      { ...files, cert: other.cert, key: other.key },
      { ...files, cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' },
    ];
    for (const each of spoiled) {
      const renewed = renew(each, { names }, at(1));
      expect(accepts(renewed.ca, renewed, at(1))).toBe(true);
      expect(renew(renewed, { names }, at(1))).toBe(renewed);
    }
  });
});
