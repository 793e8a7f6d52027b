/** The certificates that the operator makes itself, in one Secret of its namespace that all replicas share. */
import { ApiError, type ApiServer } from '../runtime/api-server.ts';
import { isRecord } from '../runtime/kube-object.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { type CertificateFiles, type RenewalPolicy, renew } from './serving-state.ts';

export const CERTIFICATE_SECRET = 'gw-operator-tls';

export interface CertificateSecretOptions extends RenewalPolicy {
  /** The operator's. */
  readonly namespace: string;
  /** Milliseconds between two looks; default 5 minutes. */
  readonly everyMs?: number;
  readonly now?: () => Date;
}

const EVERY_MS = 5 * 60_000;
/** Another replica may write between our read and our write. */
const ATTEMPTS = 5;

export function certificateSecret(api: ApiServer, options: CertificateSecretOptions): CertificateSource {
  const collection = `/api/v1/namespaces/${encodeURIComponent(options.namespace)}/secrets`;
  const path = `${collection}/${CERTIFICATE_SECRET}`;
  const now = options.now ?? (() => new Date());

  async function read(): Promise<ServingCertificate> {
    for (let attempt = 1; ; attempt++) {
      const found = await current();
      const files = renew(found?.files, options, now());
      if (files === found?.files) return files;
      try {
        await write(files, found?.version);
        return files;
      } catch (error) {
        // Two replicas agree because only one of them gets to write on what both have read.
        if (!(error instanceof ApiError && error.status === 409) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async function current(): Promise<{ readonly files: CertificateFiles; readonly version: string } | undefined> {
    try {
      return parse(await api.json({ method: 'GET', path }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async function write(files: CertificateFiles, version: string | undefined): Promise<void> {
    const text = (value: string) => Buffer.from(value, 'utf8').toString('base64');
    await api.json({
      method: version === undefined ? 'POST' : 'PUT',
      path: version === undefined ? collection : path,
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: CERTIFICATE_SECRET,
          labels: { 'app.kubernetes.io/managed-by': 'gw-operator' },
          ...(version === undefined ? {} : { resourceVersion: version }),
        },
        type: 'Opaque',
        data: {
          'ca.crt': text(files.ca),
          'ca.key': text(files.caKey),
          'tls.crt': text(files.cert),
          'tls.key': text(files.key),
        },
      },
    });
  }

  return { read, everyMs: options.everyMs ?? EVERY_MS };
}

function parse(secret: unknown): { readonly files: CertificateFiles; readonly version: string } {
  if (!isRecord(secret) || !isRecord(secret['metadata'])) throw new Error('the API server sent no Secret');
  const data = isRecord(secret['data']) ? secret['data'] : {};
  const text = (key: string) => Buffer.from(String(data[key] ?? ''), 'base64').toString('utf8');
  return {
    files: { ca: text('ca.crt'), caKey: text('ca.key'), cert: text('tls.crt'), key: text('tls.key') },
    version: String(secret['metadata']['resourceVersion'] ?? ''),
  };
}
