/** Requests of GraphQL over HTTP; declare `host_graphql_open` and `host_graphql_check`, and `request_body = "buffer"`. */
import * as host from "./host";
import { ROOM, Text } from "./text";

/**
 * @example
 * GraphQL.open(); // in init
 * if (GraphQL.check() != 0) Log.info(GraphQL.refusal());
 */
export namespace GraphQL {
  /** The request may go on. */
  export const PASSES: i32 = 0;

  /** In `init`: reads the whole config as `graphql` has it. */
  export function open(): void {
    host.host_graphql_open();
  }

  /** `PASSES`, or the status to refuse the request with. */
  export function check(): i32 {
    return host.host_graphql_check();
  }

  /** After a refusal: returns `extensions.code` of the GraphQL error. */
  export function code(): Text {
    return part(0);
  }

  /** After a refusal: why, for the client. */
  export function refusal(): Text {
    return part(1);
  }

  function part(number: i32): Text {
    let ptr = heap.alloc(ROOM);
    const length = host.graphql_refusal_get(number, ptr, ROOM);
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.graphql_refusal_get(number, ptr, length);
    }
    return new Text(ptr, length);
  }
}
