/** The end of a WebSocket: code and reason of its close frame. */
export interface CloseStatus {
  readonly code: number;
  /** At most 123 bytes (RFC 6455, section 5.5). */
  readonly reason: string;
}
