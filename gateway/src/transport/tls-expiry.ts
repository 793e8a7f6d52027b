/** When the certificate that the gateway presents expires, and the warnings before. */
import { X509Certificate } from 'node:crypto';
import type { KeyPair } from './tls.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates that renew themselves have done so by then. */
const WARN_BEFORE_MS = 14 * DAY_MS;

/** Unix time in seconds; of the first certificate of the file, which is the gateway's own. */
export function expiryOf({ cert }: KeyPair): number {
  return Date.parse(new X509Certificate(cert).validTo) / 1000;
}

export interface ExpiryWarning {
  /** ISO 8601. */
  readonly expires: string;
  readonly message: string;
}

export interface ExpiryWatch {
  /** Watches this pair from now on. */
  use(pair: KeyPair): void;
  stop(): void;
}

/** Warns at once, at each new pair and every day, of a certificate that has expired or will within 14 days. */
export function watchExpiry(pair: KeyPair, warn: (warning: ExpiryWarning) => void): ExpiryWatch {
  let expiresAt = 0;
  function look(): void {
    const left = expiresAt - Date.now();
    if (left > WARN_BEFORE_MS) return;
    const expires = new Date(expiresAt).toISOString();
    const message =
      left <= 0
        ? 'the certificate has expired: clients reject it; replace the files of --tls-cert and --tls-key'
        : 'the certificate expires soon: replace the files of --tls-cert and --tls-key';
    warn({ expires, message });
  }
  function use(next: KeyPair): void {
    expiresAt = expiryOf(next) * 1000;
    look();
  }
  use(pair);
  const daily = setInterval(look, DAY_MS).unref();
  return { use, stop: () => clearInterval(daily) };
}
