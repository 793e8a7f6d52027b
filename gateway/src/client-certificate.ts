/** Facts about a client's certificate for the pipeline and plugins. */
export interface ClientCertificate {
  /** Distinguished name as RFC 4514 writes it, the most particular part first. */
  readonly subject: string;
  /** Undefined if the subject lacks it, or has several. */
  readonly commonName: string | undefined;
  readonly issuer: string;
  /** Hex, in upper case. */
  readonly serial: string;
  /** SHA-256 of the certificate, hex in lower case. */
  readonly fingerprint: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Subject alternative names. */
  readonly uris: readonly string[];
  readonly dnsNames: readonly string[];
  readonly emails: readonly string[];
}
