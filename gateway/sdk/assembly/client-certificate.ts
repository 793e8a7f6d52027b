/**
 * The client's certificate, if TLS requested one and verified it; declare `host_client_certificate_get` and
 * `host_client_certificate_name`.
 */
import * as host from "./host";
import { ROOM, Text } from "./text";

/**
 * @example
 * const name = ClientCertificate.commonName();
 * if (name) Request.setHeader(text("x-client"), name);
 */
export namespace ClientCertificate {
  function field(number: i32): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.host_client_certificate_get(number, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.host_client_certificate_get(number, ptr, length);
    }
    return new Text(ptr, length);
  }

  function name(kind: i32, index: i32): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.host_client_certificate_name(kind, index, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.host_client_certificate_name(kind, index, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Distinguished name (RFC 4514); null if the client has shown no certificate. */
  export function subject(): Text | null {
    return field(0);
  }

  /** Returns null also if the subject has several. */
  export function commonName(): Text | null {
    return field(1);
  }

  /** Distinguished name of the issuer; null without a certificate. */
  export function issuer(): Text | null {
    return field(2);
  }

  /** Hex, in upper case. */
  export function serial(): Text | null {
    return field(3);
  }

  /** SHA-256, hex in lower case. */
  export function fingerprint(): Text | null {
    return field(4);
  }

  /** ISO 8601. */
  export function notAfter(): Text | null {
    return field(6);
  }

  /** Subject alternative name number `index` of a kind; null past the last. */
  export function uri(index: i32): Text | null {
    return name(0, index);
  }

  /** DNS name number `index` of the certificate; null past the last. */
  export function dnsName(index: i32): Text | null {
    return name(1, index);
  }

  /** E-mail address number `index` of the certificate; null past the last. */
  export function email(index: i32): Text | null {
    return name(2, index);
  }
}
