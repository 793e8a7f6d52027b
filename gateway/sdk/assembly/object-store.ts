/** An S3-compatible object store; declare `host_object_store_open` and `host_object_store_stream`. */
import * as host from "./host";
import { Text } from "./text";

/** The bucket's name is malformed. */
export const STORE_NO_BUCKET: i32 = -1;
/** The key is malformed. */
export const STORE_NO_KEY: i32 = -2;
/** The request's query is not UTF-8. */
export const STORE_BAD_QUERY: i32 = -3;

/**
 * @example
 * ObjectStore.open(); // in init
 * const result = ObjectStore.stream(text("books"), text("emma.epub"));
 * if (result == STORE_NO_KEY) return ANSWERED;
 */
export namespace ObjectStore {
  /** In `init`: reads the whole config as `object-store` has it. */
  export function open(): void {
    host.host_object_store_open();
  }

  /**
   * The host signs the request and proxies it to the object; return `HANDED_OFF` from `dispatch` if the result is 0.
   * Bucket and key are percent-encoded, as `Request.pathParamSent` has them. Below 0: one of the failures above.
   */
  export function stream(bucket: Text, key: Text): i32 {
    return host.host_object_store_stream(bucket.ptr, bucket.length, key.ptr, key.length);
  }
}
