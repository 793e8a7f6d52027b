/** The meaning of the client library's errors for a message. */
import { JetStreamApiError } from '@nats-io/jetstream';
import { PermissionViolationError, TimeoutError } from '@nats-io/nats-core';
import { PublishError } from '../publishing/publish-error.ts';

/** Error codes of JetStream (its errors.json). */
const MESSAGE_TOO_LARGE = 10_054;

/** The subject has no listener. */
export function noStream(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}

/** `name`: of the servers. */
export function failureOf(error: unknown, name: string): PublishError {
  if (error instanceof PublishError) return error;
  const says = (failure: 'failed' | 'timeout' | 'too-large', text: string, answered: boolean) =>
    new PublishError(failure, `${name}: ${text}`, { cause: error, answered });
  if (error instanceof TimeoutError) return says('timeout', 'no acknowledgement of the stream in time', false);
  if (error instanceof JetStreamApiError) {
    const failure = error.code === MESSAGE_TOO_LARGE ? 'too-large' : 'failed';
    return says(failure, `the stream refused the message (${error.code})`, true);
  }
  if (noStream(error)) return says('failed', 'no stream listens on the subject', true);
  if (isPermission(error)) return says('failed', 'the server does not permit publishing to the subject', true);
  // When the connection is lost, the library rejects waiting calls with errors of several kinds.
  const text = `the connection was lost (${error instanceof Error ? error.name : 'unknown'})`;
  return new PublishError('failed', `${name}: ${text}`, { cause: error, connectionLost: true });
}

function isPermission(error: unknown): boolean {
  return (
    error instanceof PermissionViolationError ||
    (error instanceof Error && error.cause instanceof PermissionViolationError)
  );
}
