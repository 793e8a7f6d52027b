/**
 * Subjects of NATS. To publish, declare `host_nats_open` and `host_nats_publish`, and `request_body = "buffer"`; to stream
 * their messages, `host_nats_subscribe_open` and `host_nats_subscribe`.
 */
import * as host from "./host";
import { MessageHeaders } from "./publishing";
import { Text } from "./text";

/**
 * @example
 * Nats.open(); // in init
 * const result = Nats.publish(text("orders.new"), new MessageHeaders());
 * if (result != 0) Publishing.refuse(result, Nats.retryAfter());
 * return ANSWERED;
 */
export namespace Nats {
  /** In `init`: reads the whole config as `subject-publish` has it. */
  export function open(): void {
    host.host_nats_open();
  }

  /** Publishes the request's body and waits for its acknowledgement: `PUBLISHED`, or a result for `Publishing.refuse`. */
  export function publish(subject: Text, headers: MessageHeaders): i32 {
    const fields = headers.take();
    return host.host_nats_publish(subject.ptr, subject.length, fields.ptr, fields.length);
  }

  /** In `init`: reads the whole config as `subject-subscribe` has it. */
  export function openStreams(): void {
    host.host_nats_subscribe_open();
  }

  /** Streams the messages of a subject to the client: `Subscribing.STREAMS`, or a result for `Subscribing.refuse`. */
  export function subscribe(subject: Text): i32 {
    return host.host_nats_subscribe(subject.ptr, subject.length);
  }

  /** Seconds until it may be tried again, after -3 and -4. */
  export function retryAfter(): i32 {
    return host.nats_retry_after();
  }
}
