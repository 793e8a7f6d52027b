/** The port behind which nonces of signatures are kept: in the process, shared between workers, or in Redis. */

/**
 * `new`: it was unknown, and is noted now; `used`: it was known; `forgotten`: unknown, since the signature is older
 * than the store's memory of its credential.
 */
export type NonceVerdict = 'new' | 'used' | 'forgotten';

export interface SignedNonce {
  /** The signature's verified credential. */
  readonly credential: string;
  readonly nonce: string;
  /** When it was signed, as the signature says: Unix time, whole seconds. */
  readonly created: number;
  /** For how long after `created` the signature could hold. */
  readonly keepSeconds: number;
}

/** Nonces that are remembered: of all credentials in a process, of each in Redis. */
export const MAX_NONCES = 500_000;

export interface NonceStore {
  /** `enter` never answers with a promise. */
  readonly immediate?: boolean;
  /**
   * A store remembers from its start, and a full one drops the oldest nonce of the credential that has most. Signatures
   * made before are `forgotten`: so no signature is accepted twice, and clients that sign at the time of sending are
   * not affected.
   */
  enter(nonce: SignedNonce): NonceVerdict | Promise<NonceVerdict>;
}
