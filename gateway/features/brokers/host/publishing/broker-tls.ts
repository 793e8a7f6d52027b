/** TLS towards brokers, as configs have it: `tls` with `ca`, `client_cert` and `client_key`, each a PEM file. */
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { get, isObject, type JsonObject, type ReadPem } from '../../../kit.ts';

/** The contents of the files, so that changed files make other settings. */
export interface BrokerTls {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Returns null if the config has no `tls`. Throws SecretError if a file does not read. */
export function readBrokerTls(config: JsonObject, readPem: ReadPem): BrokerTls | null {
  const tls = config['tls'];
  if (!isObject(tls)) return null;
  const pem = (field: string) => {
    const path = get(tls, field);
    return typeof path === 'string' && path !== '' ? readPem(path) : undefined;
  };
  return { ca: pem('ca'), cert: pem('client_cert'), key: pem('client_key') };
}

/** Throws if the files hold no certificates or keys. */
export function secureContextOf({ ca, cert, key }: BrokerTls): SecureContext {
  return createSecureContext({
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  });
}
