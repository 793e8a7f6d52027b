/** The certificates that the operator makes itself, in one Secret of its namespace that all replicas share. */
import type { ApiServer } from '../runtime/api-server.ts';
import { ownSecret } from '../runtime/own-secret.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { type RenewalPolicy, renew } from './serving-state.ts';

export const CERTIFICATE_SECRET = 'gw-operator-tls';

export interface CertificateSecretOptions extends RenewalPolicy {
  /** The operator's. */
  readonly namespace: string;
  /** Milliseconds between two reads; default 15 s: a deleted Secret is recreated by then. */
  readonly everyMs?: number;
  readonly now?: () => Date;
}

const EVERY_MS = 15_000;

export function certificateSecret(api: ApiServer, options: CertificateSecretOptions): CertificateSource {
  const now = options.now ?? (() => new Date());

  const read = (): Promise<ServingCertificate> =>
    ownSecret(api, { namespace: options.namespace, name: CERTIFICATE_SECRET }, (stored) => {
      const text = stored?.text;
      const found = text && { ca: text('ca.crt'), caKey: text('ca.key'), cert: text('tls.crt'), key: text('tls.key') };
      const files = renew(found, options, now());
      if (files === found) return { content: files };
      const data = { 'ca.crt': files.ca, 'ca.key': files.caKey, 'tls.crt': files.cert, 'tls.key': files.key };
      return { content: files, write: { data } };
    });

  return { read, everyMs: options.everyMs ?? EVERY_MS };
}
