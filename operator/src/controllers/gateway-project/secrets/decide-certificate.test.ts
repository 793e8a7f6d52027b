import { expect, it } from 'vitest';
import { certificateChanges, certificateVerdict } from './decide-certificate.ts';

const NOW = new Date('2026-06-01T00:00:00Z');
const DAY = 24 * 60 * 60 * 1000;
const days = (from: number, until: number) => ({
  secret: 'tls',
  from: new Date(NOW.getTime() + from * DAY),
  until: new Date(NOW.getTime() + until * DAY),
});

it.each([
  ['is new', days(-1, 89), 'True CertificateValid', 'is valid until 2026-08-29T00:00:00Z'],
  ['has been due for renewal', days(-80, 10), 'True CertificateExpiring', 'expires at 2026-06-11T00:00:00Z'],
  ['lives for a day and has most of it left', days(-0.2, 0.8), 'True CertificateValid', 'is valid until'],
  ['lives for a day and has little left', days(-0.9, 0.1), 'True CertificateExpiring', 'expires at'],
  ['is a year old and has a month left', days(-335, 30), 'True CertificateValid', 'is valid until'],
  ['is over', days(-90, 0), 'False CertificateExpired', 'expired at 2026-06-01T00:00:00Z'],
  ['is not good yet', days(1, 90), 'False CertificateExpired', 'is not valid before 2026-06-02T00:00:00Z'],
])('a certificate that %s', (_, times, expected, text) => {
  const { type, status, reason, message } = certificateVerdict(times, NOW);
  expect(type).toBe('CertificateValid');
  expect(`${status} ${reason}`).toBe(expected);
  expect(message).toContain('Secret "tls"');
  expect(message).toContain(text);
});

it('is looked at again when what is said of it changes', () => {
  expect(certificateChanges(days(-1, 89), NOW)).toBe(75 * DAY);
  expect(certificateChanges(days(-80, 10), NOW)).toBe(10 * DAY);
  expect(certificateChanges(days(1, 90), NOW)).toBe(DAY);
  expect(certificateChanges(days(-90, -1), NOW)).toBeUndefined();
});
