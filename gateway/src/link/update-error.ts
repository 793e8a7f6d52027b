/** Why an update did not come about, in the terms of the protocol. */
import { ArtifactError, type ArtifactErrorReason } from '../artifact/index.ts';
import { SecretError } from '../secrets/secrets.ts';
import { messageOf } from '../text/message-of.ts';
import type { RefusalReason } from './messages.ts';

export class UpdateError extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const OF_ARTIFACTS: Readonly<Record<ArtifactErrorReason, RefusalReason>> = {
  unreadable: 'unreadable',
  malformed: 'unreadable',
  integrity: 'unreadable',
  'too-large': 'too-large',
  'unsupported-version': 'unsupported-version',
  signature: 'signature',
};

/**
 * Converts an error of reading or loading an artifact. The gateway's errors name references and files, never a secret's
 * value.
 */
export function updateError(error: unknown): UpdateError {
  if (error instanceof UpdateError) return error;
  const reason =
    error instanceof ArtifactError
      ? OF_ARTIFACTS[error.reason]
      : error instanceof SecretError
        ? 'secrets'
        : 'load-failed';
  return new UpdateError(reason, messageOf(error), { cause: error });
}
