/** Tokens of callers, exchanged for those of an upstream (RFC 8693); declare `host_token_exchange_open` and `host_token_exchange`. */
import * as host from "./host";
import { EMPTY, ROOM, Text, text } from "./text";

/** There is a token for the upstream. */
export const EXCHANGE_ISSUED: i32 = 0;
/** The caller's token is not accepted: `TokenExchange.refusal` says why. */
export const EXCHANGE_REFUSED: i32 = 1;
/** The server issues no such token: `TokenExchange.refusal` is the code. */
export const EXCHANGE_DENIED: i32 = 2;
/** The authorization server is away, or takes no more for now. */
export const EXCHANGE_UNAVAILABLE: i32 = 3;
/** It did not answer in time. */
export const EXCHANGE_TIMEOUT: i32 = 4;
/** Its answer cannot be used. */
export const EXCHANGE_UNUSABLE: i32 = 5;

/**
 * @example
 * const exchange = TokenExchange.open('{"token_endpoint": {"$config": "/token_endpoint"}}'); // in init
 * const token = Bearer.token();
 * if (token && TokenExchange.exchange(exchange, token) == EXCHANGE_ISSUED) Bearer.replace(TokenExchange.token());
 */
export namespace TokenExchange {
  /** In `init`: an exchange by rules in JSON (ABI.md), in which `{"$config": "/pointer"}` stands for a value of the config. */
  export function open(rules: string): i32 {
    const json = text(rules);
    return host.host_token_exchange_open(json.ptr, json.length);
  }

  /** Exchanges the token; waits unless a result is at hand. */
  export function exchange(exchange: i32, token: Text): i32 {
    return host.host_token_exchange(exchange, token.ptr, token.length);
  }

  /** The token that the last exchange brought. */
  export function token(): Text {
    let ptr = heap.alloc(ROOM);
    const length = host.token_exchange_get(ptr, ROOM);
    if (length < 0) return EMPTY;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.token_exchange_get(ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Returns the reason of the refusal, for the client. */
  export function refusal(): Text {
    const ptr = heap.alloc(ROOM);
    const length = host.token_exchange_refusal_get(ptr, ROOM);
    return length < 0 || length > ROOM ? EMPTY : new Text(ptr, length);
  }

  /** Seconds after which a server that is away may be asked again. */
  export function retryAfter(): i32 {
    return host.token_exchange_retry_after();
  }
}
