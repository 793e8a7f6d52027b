/** Condition about the certificate of a project's traffic port. Pure. */
import { rfc3339, type Verdict } from '../../../runtime/conditions.ts';
import type { CertificateTimes } from './observe-pod-secrets.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Renewal usually happens with a third of the time left: a certificate with less than a sixth was forgotten. */
const LEFT_SHARE = 6;
const LEFT_MOST_MS = 14 * DAY_MS;

export function certificateVerdict({ secret, from, until }: CertificateTimes, now: Date): Verdict {
  const verdict = (status: Verdict['status'], reason: Verdict['reason'], message: string): Verdict => ({
    type: 'CertificateValid',
    status,
    reason,
    message: `the certificate of Secret "${secret}" ${message}`,
  });
  const left = until.getTime() - now.getTime();
  if (left <= 0) return verdict('False', 'CertificateExpired', `expired at ${rfc3339(until)}`);
  if (from > now) return verdict('False', 'CertificateExpired', `is not valid before ${rfc3339(from)}`);
  if (left < renewalDue(from, until)) return verdict('True', 'CertificateExpiring', `expires at ${rfc3339(until)}`);
  return verdict('True', 'CertificateValid', `is valid until ${rfc3339(until)}`);
}

/** Milliseconds before its end from which on a certificate should have been renewed. */
function renewalDue(from: Date, until: Date): number {
  return Math.min(LEFT_MOST_MS, (until.getTime() - from.getTime()) / LEFT_SHARE);
}

/** Returns the milliseconds until the verdict changes; undefined if it does not change any more. */
export function certificateChanges({ from, until }: CertificateTimes, now: Date): number | undefined {
  const times = [from.getTime(), until.getTime() - renewalDue(from, until), until.getTime()];
  const next = times.map((time) => time - now.getTime()).filter((left) => left > 0);
  return next.length > 0 ? Math.min(...next) : undefined;
}
