/** The request: read on demand, changed in place. */
import * as host from "./host";
import { EMPTY, ROOM, Text } from "./text";

/** Algorithms of `Request.bodyDigest`. */
export const SHA_256: i32 = 0;
/** SHA-512, for `Request.bodyDigest`. */
export const SHA_512: i32 = 1;

/**
 * @example
 * const tenant = Request.header(text("x-tenant"));
 * if (tenant) Request.setHeader(text("x-tenant"), tenant.lower());
 */
export namespace Request {
  function field(number: i32): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.request_get(number, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.request_get(number, ptr, length);
    }
    return new Text(ptr, length);
  }

  function always(number: i32): Text {
    const value = field(number);
    return value ? value : EMPTY;
  }

  /** Method, such as `GET`. */
  export function method(): Text {
    return always(0);
  }

  /** As sent, without the query; never decoded. */
  export function path(): Text {
    return always(1);
  }

  /** Without `?`; null if absent. */
  export function query(): Text | null {
    return field(2);
  }

  /** Address of the client. */
  export function clientIp(): Text {
    return always(3);
  }

  /**
   * Returns the part of the address that one client has: the /64 of an IPv6 address (`2001:db8:0:0::/64`), else the
   * address.
   */
  export function clientNetwork(): Text {
    return always(8);
  }

  /** Path template of the operation, such as `/users/{id}`. */
  export function operationPath(): Text {
    return always(4);
  }

  /** `operationId` of the operation; null if it has no id. */
  export function operationId(): Text | null {
    return field(5);
  }

  /** `http` or `https`. */
  export function scheme(): Text {
    return always(6);
  }

  /** Path and query as sent. */
  export function target(): Text {
    return always(7);
  }

  /** Returns all values of a header joined with `, `; null if it is absent. Names in any case. */
  export function header(name: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.request_header_get(name.ptr, name.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.request_header_get(name.ptr, name.length, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Returns true if the request has a header of this name, in any case. */
  export function hasHeader(name: Text): bool {
    return host.request_header_get(name.ptr, name.length, 0, 0) >= 0;
  }

  function headerPart(index: i32, part: i32): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.request_header_at(index, part, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.request_header_at(index, part, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Name of header number `index`, in lower case; null past the last. */
  export function headerName(index: i32): Text | null {
    return headerPart(index, 0);
  }

  /** Value of header number `index`; null past the last. */
  export function headerValue(index: i32): Text | null {
    return headerPart(index, 1);
  }

  /** Sets a header, in place of all of its name, for later plugins and the upstream. Ends the call if the header belongs to the gateway, such as `host`. */
  export function setHeader(name: Text, value: Text): void {
    host.request_header_change(0, name.ptr, name.length, value.ptr, value.length);
  }

  /** Adds a header to those of its name. Ends the call as `setHeader` does. */
  export function addHeader(name: Text, value: Text): void {
    host.request_header_change(1, name.ptr, name.length, value.ptr, value.length);
  }

  /** Removes all headers of a name. Ends the call as `setHeader` does. */
  export function removeHeader(name: Text): void {
    host.request_header_change(2, name.ptr, name.length, 0, 0);
  }

  /** Returns the first value of a query parameter, decoded; null if it is absent. */
  export function queryParam(name: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.request_query_get(name.ptr, name.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.request_query_get(name.ptr, name.length, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Removes a query parameter for later plugins and the upstream. */
  export function removeQueryParam(name: Text): void {
    host.request_query_change(2, name.ptr, name.length, 0, 0);
  }

  /** Puts a query parameter in the place of all of its name, for later plugins and the upstream; encoded by the gateway. */
  export function setQueryParam(name: Text, value: Text): void {
    host.request_query_change(0, name.ptr, name.length, value.ptr, value.length);
  }

  /** Adds a query parameter to those of its name. */
  export function addQueryParam(name: Text, value: Text): void {
    host.request_query_change(1, name.ptr, name.length, value.ptr, value.length);
  }

  /** A path parameter, decoded; null if the operation has none of this name. */
  export function pathParam(name: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.path_param_get(name.ptr, name.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.path_param_get(name.ptr, name.length, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** A path parameter as the client sent it, still encoded; null if the operation has none of this name. */
  export function pathParamSent(name: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.path_param_sent(name.ptr, name.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.path_param_sent(name.ptr, name.length, ptr, length);
    }
    return new Text(ptr, length);
  }

  /**
   * Has the gateway answer 413 to a body of more than `bytes`, for any reader, and before an upstream has all of it.
   * Returns the length of a body that an earlier plugin has read, which is not checked then, else -1.
   */
  export function limitBody(bytes: i32): i32 {
    return host.request_body_limit(bytes);
  }

  /**
   * In `init`: with this config `on_request` or `dispatch` reads every body, or with `onlyJson` those of JSON types. The gateway then
   * reads it before the call, and no instance waits for the client. Needs `request_body = "buffer"`.
   */
  export function needBody(onlyJson: bool = false): void {
    host.request_body_need(onlyJson ? 1 : 0);
  }

  /** Length of the whole body; waits for it. Needs `request_body = "buffer"`. */
  export function bodyLength(): i32 {
    return host.request_body_length();
  }

  /** The whole body; waits for it. Needs `request_body = "buffer"`. */
  export function body(): Text {
    const length = host.request_body_length();
    const ptr = heap.alloc(length + 1);
    host.request_body_read(0, ptr, length);
    return new Text(ptr, length);
  }

  /** Digest of the whole body, which stays in the host; waits for it. Needs `request_body = "buffer"`. */
  export function bodyDigest(algorithm: i32): Text {
    const ptr = heap.alloc(64);
    return new Text(ptr, host.request_body_digest(algorithm, ptr));
  }

  /** Replaces the body, for later plugins and the upstream. Needs `request_body = "buffer"`. */
  export function setBody(body: Text): void {
    host.request_body_set(body.ptr, body.length);
  }
}
