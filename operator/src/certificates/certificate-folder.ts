/** The files of a mounted `kubernetes.io/tls` Secret, as cert-manager makes them: `tls.crt`, `tls.key`, `ca.crt`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';

const EVERY_MS = 10_000;

/** Reads a folder at intervals: the kubelet swaps a link, which file watches often miss. */
export function certificateFolder(folder: string): CertificateSource {
  return {
    everyMs: EVERY_MS,
    async read(): Promise<ServingCertificate> {
      const [cert, key, ca] = await Promise.all(
        ['tls.crt', 'tls.key', 'ca.crt'].map((name) => readFile(join(folder, name), 'utf8')),
      );
      // The Secret may change between reading two files: a pair that does not match is not served.
      createSecureContext({ cert: cert!, key: key! });
      return { cert: cert!, key: key!, ca: ca! };
    },
  };
}
