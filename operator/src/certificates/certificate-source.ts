/** Source of the certificate of the operator's listener: its own Secret, or files that another program renews. */

export interface ServingCertificate {
  /** PEM: the certificate and its intermediates. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** PEM: the authorities that clients should trust. */
  readonly ca: string;
}

export interface CertificateSource {
  /** Returns undefined until there is a certificate. Throws if it cannot be read now; the served one then stays. */
  read(): Promise<ServingCertificate | undefined>;
  /** Milliseconds between two reads. */
  readonly everyMs: number;
}
