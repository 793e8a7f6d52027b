/** The meaning of errors of brokers and connections for a message. */

import { PublishError } from '../publishing/publish-error.ts';
import { KafkaError } from './kafka-error.ts';

const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
/** Brokers would say the same again. */
const REFUSALS = new Set([
  ...TOO_LARGE,
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'INVALID_TOPIC_EXCEPTION',
  'POLICY_VIOLATION',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
]);
/** The topic does not exist, and the brokers do not create it. */
export class TopicUnknown extends Error {}

/** The brokers have answered, and do not take it. */
export function isRefusal(error: unknown): boolean {
  return error instanceof TopicUnknown || REFUSALS.has(typeOf(error));
}

/** True also for a moment while brokers create a topic on use. */
export function isUnknownTopic(error: unknown): boolean {
  return typeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION';
}

/** `name`: of the brokers. */
export function failureOf(error: unknown, name: string): PublishError {
  if (error instanceof PublishError) return error;
  const type = typeOf(error);
  const refused = isRefusal(error);
  const text = refused
    ? `the brokers refuse the message (${type})`
    : error instanceof Error
      ? error.message
      : 'it failed';
  return new PublishError(TOO_LARGE.has(type) ? 'too-large' : 'failed', `${name}: ${text}`, {
    cause: error,
    answered: refused,
  });
}

/** Returns Kafka's name of the error, or of the first of its causes that has one. */
function typeOf(error: unknown): string {
  if (error instanceof KafkaError) return error.type;
  return error instanceof Error && error.cause !== undefined ? typeOf(error.cause) : '';
}
