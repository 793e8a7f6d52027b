/**
 * Reasons for which an artifact does not load; one line with the fault and its remedy
 * (docs/reference/gateway.md#loading).
 */
export type ArtifactErrorReason =
  | 'unreadable'
  | 'too-large'
  | 'malformed'
  | 'unsupported-version'
  | 'integrity'
  | 'signature';

export class ArtifactError extends Error {
  readonly reason: ArtifactErrorReason;

  constructor(reason: ArtifactErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ArtifactError';
    this.reason = reason;
  }
}
