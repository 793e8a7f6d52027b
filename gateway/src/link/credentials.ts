/** Credentials of a data plane, and the CA that it trusts: read anew for each connection, since both are rotated. */
import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '../text/message-of.ts';
import { isApiKey } from './api-key.ts';

const MAX_FILE_BYTES = 1 << 20;

export interface CredentialSource {
  /** The key itself, without a file. */
  readonly apiKey?: string | undefined;
  /** File that holds the key; one newline at its end is not part of it. */
  readonly apiKeyFile?: string | undefined;
  /** Certificates that the control plane's is checked by: PEM, or a file of it. Default: those that the system trusts. */
  readonly ca?: string | undefined;
}

export interface Credentials {
  /** Never logged. */
  readonly apiKey: string;
  /** PEM. */
  readonly ca?: string;
}

/** Rejects with an Error that names the option and the file, and never the key. */
export async function readCredentials({ apiKey, apiKeyFile, ca }: CredentialSource): Promise<Credentials> {
  const key = apiKeyFile === undefined ? (apiKey ?? '') : (await readText('--api-key-file', apiKeyFile)).trim();
  if (!isApiKey(key)) {
    throw new Error(
      `${apiKeyFile === undefined ? 'the API key' : apiKeyFile} is not an API key: it must be visible ASCII`,
    );
  }
  return { apiKey: key, ...(ca === undefined ? {} : { ca: await readCa(ca) }) };
}

async function readCa(given: string): Promise<string> {
  const pem = given.includes('-----BEGIN') ? given : await readText('--control-plane-ca', given);
  try {
    new X509Certificate(pem);
  } catch {
    throw new Error('--control-plane-ca holds no certificate: give PEM, or a file of it');
  }
  return pem;
}

async function readText(option: string, file: string): Promise<string> {
  try {
    if ((await stat(file)).size > MAX_FILE_BYTES) throw new Error(`${file} is too large`);
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read ${option}: ${messageOf(error)}`, { cause: error });
  }
}
