/**
 * Topics of Kafka. To publish, declare `host_kafka_open` and `host_kafka_publish`, and `request_body = "buffer"`; to stream
 * their messages, `host_kafka_subscribe_open` and `host_kafka_subscribe`.
 */
import * as host from "./host";
import { MessageHeaders } from "./publishing";
import { Text } from "./text";

/**
 * @example
 * Kafka.open(); // in init
 * const result = Kafka.publish(text("orders"), null, new MessageHeaders());
 * if (result != 0) Publishing.refuse(result, Kafka.retryAfter());
 * return ANSWERED;
 */
export namespace Kafka {
  /** In `init`: reads the whole config as `stream-publish` has it. */
  export function open(): void {
    host.host_kafka_open();
  }

  /**
   * Publishes the request's body, with a key or without, and waits for its acknowledgement: `PUBLISHED`, or a
   * result for `Publishing.refuse`.
   */
  export function publish(topic: Text, key: Text | null, headers: MessageHeaders): i32 {
    const fields = headers.take();
    const keyPtr: usize = key ? key.ptr : 0;
    const keyLength: i32 = key ? key.length : -1;
    return host.host_kafka_publish(topic.ptr, topic.length, keyPtr, keyLength, fields.ptr, fields.length);
  }

  /** Returns the partition of the published message. */
  export function partition(): i32 {
    return host.kafka_partition();
  }

  /** Offset of the message that was published last. */
  export function offset(): i64 {
    return <i64>host.kafka_offset();
  }

  /** In `init`: reads the whole config as `stream-subscribe` has it. */
  export function openStreams(): void {
    host.host_kafka_subscribe_open();
  }

  /**
   * Streams the messages of a topic to the client, or those with a key: `Subscribing.STREAMS`, or a result for
   * `Subscribing.refuse`.
   */
  export function subscribe(topic: Text, key: Text | null): i32 {
    const keyPtr: usize = key ? key.ptr : 0;
    const keyLength: i32 = key ? key.length : -1;
    return host.host_kafka_subscribe(topic.ptr, topic.length, keyPtr, keyLength);
  }

  /** Seconds until it may be tried again, after -3 and -4. */
  export function retryAfter(): i32 {
    return host.kafka_retry_after();
  }
}
