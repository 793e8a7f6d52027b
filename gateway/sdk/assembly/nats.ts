/** Messages to subjects of NATS; declare `host_nats_open` and `host_nats_publish`, and `request_body = "buffer"`. */
import * as host from "./host";
import { MessageHeaders } from "./publishing";
import { Text } from "./text";

export namespace Nats {
  /** In `init`: reads the whole config as `subject-publish` has it. */
  export function open(): void {
    host.host_nats_open();
  }

  /** Publishes the request's body and waits for its acknowledgement: `PUBLISHED`, or what `Publishing.refuse` takes. */
  export function publish(subject: Text, headers: MessageHeaders): i32 {
    const fields = headers.take();
    return host.host_nats_publish(subject.ptr, subject.length, fields.ptr, fields.length);
  }

  /** Seconds until the servers are tried again, after -3. */
  export function retryAfter(): i32 {
    return host.nats_retry_after();
  }
}
