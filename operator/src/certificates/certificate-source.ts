/** Where the certificate of the operator's listener comes from: our own Secret, or files that somebody else renews. */

export interface ServingCertificate {
  /** PEM: the certificate and what stands between it and the authority. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** PEM: the authorities that clients shall trust. */
  readonly ca: string;
}

export interface CertificateSource {
  /** Returns undefined until there is a certificate. Throws if it cannot be read now; the served one then stays. */
  read(): Promise<ServingCertificate | undefined>;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
}
