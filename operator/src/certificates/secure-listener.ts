/** The HTTPS listener with its certificate: made by us for the names of our Services, or mounted from cert-manager. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { ApiServer } from '../runtime/api-server.ts';
import { type HttpsRoutes, HttpsServer } from '../runtime/https-server.ts';
import { CertificateKeeper } from './certificate-keeper.ts';
import { certificateSecret } from './certificate-secret.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';

export interface SecureListenerOptions {
  readonly host: string;
  /** 0 chooses a free one. */
  readonly port: number;
  /** The operator's. */
  readonly namespace: string;
  /** Names of the Services, in that namespace, by which clients reach the listener. */
  readonly services: readonly string[];
  /** DNS names and addresses besides. */
  readonly names: readonly string[];
  /** Folder with `tls.crt`, `tls.key` and `ca.crt` that others renew; absent: the operator makes its own. */
  readonly folder?: string;
  /** PEM of the authorities that sign client certificates; absent: no certificate is requested. */
  readonly clientCa?: string;
  /** Called when the certificate changes, and perhaps the authorities to trust. */
  readonly onCertificate?: () => void;
}

export class SecureListener {
  readonly #server: HttpsServer;
  readonly #keeper: CertificateKeeper;
  readonly #started = Promise.withResolvers<number | undefined>();
  #starting = false;

  constructor(api: ApiServer, options: SecureListenerOptions, log: Logger) {
    const { host, port, namespace, folder, clientCa, onCertificate } = options;
    this.#server = new HttpsServer({
      host,
      port,
      ...(clientCa === undefined ? {} : { clientCa }),
      onError: (error) => log.warn({ err: error }, 'a request to the HTTPS listener failed'),
    });
    this.#keeper = new CertificateKeeper({
      source: folder
        ? certificateFolder(folder)
        : certificateSecret(api, { namespace, names: [...serviceNames(options), ...options.names] }),
      onChange: (certificate) => {
        this.#serve(certificate, log);
        onCertificate?.();
      },
      onError: (error) => log.error({ err: error }, 'could not store the certificate of the HTTPS listener; retrying'),
    });
  }

  get routes(): HttpsRoutes {
    return this.#server;
  }

  /** Returns the PEM of the authorities that clients of the listener should trust; undefined before it has started. */
  get ca(): string | undefined {
    return this.#keeper.current?.ca;
  }

  /** Returns its port; 0 before it answers. */
  get port(): number {
    return this.#server.port;
  }

  /** Reports whether it answers. */
  get listening(): boolean {
    return this.#server.port !== 0;
  }

  /**
   * Resolves with its port once there is a certificate, after any time, and with undefined if it is closed before;
   * rejects if the port is in use.
   */
  start(): Promise<number | undefined> {
    this.#keeper.start();
    return this.#started.promise;
  }

  async close(): Promise<void> {
    await this.#keeper.close();
    await this.#server.close();
    this.#started.resolve(undefined);
  }

  #serve(certificate: ServingCertificate, log: Logger): void {
    if (this.#starting) {
      this.#server.replaceCertificate(certificate);
      log.info('the HTTPS listener has a new certificate');
      return;
    }
    this.#starting = true;
    this.#server.start(certificate).then(this.#started.resolve, this.#started.reject);
  }
}

/** Returns every name of a Service within the cluster; API servers use `NAME.NAMESPACE.svc`. */
function serviceNames({ services, namespace }: SecureListenerOptions): readonly string[] {
  return services.flatMap((name) => [`${name}.${namespace}.svc`, `${name}.${namespace}`]);
}

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
