/** Why a WebSocket ends: code and reason of the close frame that says so. */
export interface Closing {
  readonly code: number;
  /** At most 123 bytes (RFC 6455, section 5.5). */
  readonly reason: string;
}
