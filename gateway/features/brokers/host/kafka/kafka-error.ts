/** Errors that brokers answer with (kafka.apache.org/protocol#protocol_error_codes), and the lack of an answer. */

/** Names of errors that requests of the gateway may have. */
const NAMES = new Map<number, string>([
  [-1, 'UNKNOWN_SERVER_ERROR'],
  [1, 'OFFSET_OUT_OF_RANGE'],
  [2, 'CORRUPT_MESSAGE'],
  [3, 'UNKNOWN_TOPIC_OR_PARTITION'],
  [5, 'LEADER_NOT_AVAILABLE'],
  [6, 'NOT_LEADER_OR_FOLLOWER'],
  [7, 'REQUEST_TIMED_OUT'],
  [8, 'BROKER_NOT_AVAILABLE'],
  [9, 'REPLICA_NOT_AVAILABLE'],
  [10, 'MESSAGE_TOO_LARGE'],
  [14, 'COORDINATOR_LOAD_IN_PROGRESS'],
  [15, 'COORDINATOR_NOT_AVAILABLE'],
  [17, 'INVALID_TOPIC_EXCEPTION'],
  [18, 'RECORD_LIST_TOO_LARGE'],
  [19, 'NOT_ENOUGH_REPLICAS'],
  [20, 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'],
  [29, 'TOPIC_AUTHORIZATION_FAILED'],
  [31, 'CLUSTER_AUTHORIZATION_FAILED'],
  [32, 'INVALID_TIMESTAMP'],
  [33, 'UNSUPPORTED_SASL_MECHANISM'],
  [34, 'ILLEGAL_SASL_STATE'],
  [35, 'UNSUPPORTED_VERSION'],
  [43, 'UNSUPPORTED_FOR_MESSAGE_FORMAT'],
  [44, 'POLICY_VIOLATION'],
  [45, 'OUT_OF_ORDER_SEQUENCE_NUMBER'],
  [46, 'DUPLICATE_SEQUENCE_NUMBER'],
  [47, 'INVALID_PRODUCER_EPOCH'],
  [56, 'KAFKA_STORAGE_ERROR'],
  [58, 'SASL_AUTHENTICATION_FAILED'],
  [59, 'UNKNOWN_PRODUCER_ID'],
  [72, 'LISTENER_NOT_FOUND'],
  [74, 'FENCED_LEADER_EPOCH'],
  [76, 'UNSUPPORTED_COMPRESSION_TYPE'],
  [87, 'INVALID_RECORD'],
  [89, 'THROTTLING_QUOTA_EXCEEDED'],
]);

export class KafkaError extends Error {
  /** Kafka's name of the error, or its number. */
  readonly type: string;

  constructor(code: number) {
    const type = NAMES.get(code) ?? `error ${code}`;
    super(`the broker answers ${type}`);
    this.type = type;
  }
}

/** The connection ended before the answer was there. */
export class ConnectionLost extends Error {}

/** Throws KafkaError if the code is one of an error. */
export function throwIfError(code: number): void {
  if (code !== 0) throw new KafkaError(code);
}
