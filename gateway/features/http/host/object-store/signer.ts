/** Signature version 4 of requests to a store, and of the chunks of a body that streams (docs/decisions.md#store-bodies). */
import type { SignatureV4 } from '@smithy/signature-v4';
import type { HeaderList } from '../../../kit.ts';
import { Sha256, sha256Hex } from './sha256.ts';
import type { StoreQuery } from './store-query.ts';
import type { StoreSettings } from './store-settings.ts';

export interface ToSign {
  readonly method: string;
  /** As it is sent, without the query. */
  readonly path: string;
  readonly query: StoreQuery;
  /** The signed headers, `host` among them. */
  readonly headers: HeaderList;
}

export interface Signed {
  /** To be sent with the signed headers: `x-amz-date`, `authorization` and the session's token, if any. */
  readonly headers: HeaderList;
  readonly signedAt: Date;
  /** Hex; the signature of a first chunk continues from it. */
  readonly signature: string;
}

/** SHA-256 of nothing, in place of the headers that a chunk lacks. */
const OF_NOTHING = sha256Hex(new Uint8Array(0));

export class Signer {
  readonly #region: string;
  readonly #signing: Promise<SignatureV4>;

  readonly #now: () => Date;

  constructor(settings: StoreSettings, now: () => Date = () => new Date()) {
    this.#now = now;
    this.#region = settings.region;
    this.#signing = signatureV4(settings);
    // Each use of it reports the error.
    this.#signing.catch(() => {});
  }

  async sign({ method, path, query, headers }: ToSign): Promise<Signed> {
    const signedAt = this.#now();
    const given = record(headers);
    const request = { method, protocol: 'https:', hostname: '', path, query: query.values, headers: given };
    const signed = await (await this.#signing).sign(request, { signingDate: signedAt });
    const added = Object.entries(signed.headers).filter(([name]) => given[name] === undefined);
    const signature = /Signature=([0-9a-f]{64})$/.exec(signed.headers['authorization'] ?? '')?.[1];
    if (signature === undefined) throw new Error('the request was not signed');
    return { headers: added.flat(), signedAt, signature };
  }

  /** The signature of a chunk with this SHA-256, which goes on from that of the one before it. */
  async signChunk(digest: string, before: string, signedAt: Date): Promise<string> {
    const at = signedAt.toISOString().replace(/[-:]|\.\d{3}/g, '');
    const scope = `${at.slice(0, 8)}/${this.#region}/s3/aws4_request`;
    const text = ['AWS4-HMAC-SHA256-PAYLOAD', at, scope, before, OF_NOTHING, digest].join('\n');
    return (await this.#signing).sign(text, { signingDate: signedAt });
  }
}

/** Loaded on first use. */
async function signatureV4(settings: StoreSettings): Promise<SignatureV4> {
  const { SignatureV4 } = await import('./signature-v4.ts');
  const { region, accessKeyId, secretAccessKey, sessionToken } = settings;
  return new SignatureV4({
    service: 's3',
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
}

/** Several values of a name are joined, as their signature has them. */
function record(headers: HeaderList): Record<string, string> {
  const all: Record<string, string> = Object.create(null);
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = asSent(headers[i + 1] ?? '');
    all[name] = all[name] === undefined ? value : `${all[name]},${value}`;
  }
  return all;
}

/** A character of a header is a byte of it; the signer would encode it. */
function asSent(value: string): string {
  return /[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}
