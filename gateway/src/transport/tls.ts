/** The certificate and key that the gateway presents: read, checked as a pair, and looked after for changes. */

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { errorCode } from '../text/error-code.ts';
import { messageOf } from '../text/message-of.ts';

export type TlsVersion = '1.2' | '1.3';
export const TLS_VERSIONS: readonly TlsVersion[] = ['1.2', '1.3'];

export interface KeyPair {
  /** PEM; the certificate first, then its chain. */
  readonly cert: Buffer;
  /** PEM. */
  readonly key: Buffer;
  /** PEM: issuers of clients' certificates. */
  readonly clientCa?: Buffer;
}

export interface KeyPairPaths {
  /** `--tls-cert`. */
  readonly cert: string;
  /** `--tls-key`. */
  readonly key: string;
  /** `--tls-client-ca`. */
  readonly clientCa?: string;
}

/** The files are unreadable, or do not match; the message names the file and the remedy. */
export class TlsFilesError extends Error {}

/** Milliseconds between looks at the files. Links are followed, so a swap of a Kubernetes volume is seen as well. */
const LOOK_EVERY_MS = 500;

/** Rejects with TlsFilesError. */
export async function readKeyPair(paths: KeyPairPaths): Promise<KeyPair> {
  const pair = await readFiles(paths);
  checkPair(pair, paths);
  return pair;
}

async function readFiles({ cert, key, clientCa }: KeyPairPaths): Promise<KeyPair> {
  return {
    cert: await readPem(cert, '--tls-cert'),
    key: await readPem(key, '--tls-key'),
    ...(clientCa === undefined ? {} : { clientCa: await readPem(clientCa, '--tls-client-ca') }),
  };
}

function sameFiles(one: KeyPair, other: KeyPair): boolean {
  const none = Buffer.alloc(0);
  return (
    one.cert.equals(other.cert) && one.key.equals(other.key) && (one.clientCa ?? none).equals(other.clientCa ?? none)
  );
}

/** Node.js reads a file without a certificate as an empty list of roots, which verifies no client. */
function checkRoots(pem: Buffer, path: string): void {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch (error) {
    throw new TlsFilesError(`${path} (--tls-client-ca) cannot be used: ${messageOf(error)}`, { cause: error });
  }
  if (blocks.length === 0) {
    throw new TlsFilesError(`${path} (--tls-client-ca) holds no certificate: give the PEM certificates of CAs`);
  }
}

function checkPair(pair: KeyPair, { cert, key, clientCa }: KeyPairPaths): void {
  if (pair.clientCa && clientCa !== undefined) checkRoots(pair.clientCa, clientCa);
  try {
    createSecureContext({ cert: pair.cert, key: pair.key });
  } catch (error) {
    const reason = messageOf(error);
    const detail = /mismatch/i.test(reason) ? 'the key does not belong to the certificate' : reason;
    throw new TlsFilesError(
      `${cert} (--tls-cert) and ${key} (--tls-key) cannot be used: ${detail}; give a PEM certificate and its PEM key`,
      { cause: error },
    );
  }
}

async function readPem(path: string, option: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = errorCode(error);
    const reason =
      code === 'ENOENT'
        ? 'there is no such file'
        : code === 'EACCES'
          ? 'permission to read it is denied'
          : String(error);
    throw new TlsFilesError(`cannot read ${path} (${option}): ${reason}`, { cause: error });
  }
}

export interface KeyPairEvents {
  changed(pair: KeyPair): void;
  /** The present files cannot be used; reported once for each state of them. */
  refused(reason: string): void;
}

/** Looks at the files until the returned function is called. */
export function watchKeyPair(paths: KeyPairPaths, current: KeyPair, events: KeyPairEvents): () => void {
  let used = current;
  let failed = '';
  let refused = '';
  let timer: NodeJS.Timeout;
  let stopped = false;

  async function look(): Promise<void> {
    try {
      const pair = await readFiles(paths);
      if (!sameFiles(pair, used)) {
        checkPair(pair, paths);
        if (stopped) return;
        used = pair;
        events.changed(pair);
      }
      failed = '';
      refused = '';
    } catch (error) {
      const reason = messageOf(error);
      // The two files are not replaced at once: a fault may be gone at the next look.
      if (!stopped && reason === failed && reason !== refused) {
        refused = reason;
        events.refused(reason);
      }
      failed = reason;
    }
  }
  function next(): void {
    timer = setTimeout(() => {
      void look().then(() => {
        if (!stopped) next();
      });
    }, LOOK_EVERY_MS).unref();
  }
  next();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
