/** Counts of WebSockets, over the process. */

export interface DirectionFigures {
  messages: number;
  /** Bytes of frames, with their heads. */
  bytes: number;
}

export interface WebSocketFigures {
  /** Open now. */
  open: number;
  /** Figures of messages from clients, and to them. */
  readonly received: DirectionFigures;
  readonly sent: DirectionFigures;
}

export function noFigures(): WebSocketFigures {
  return { open: 0, received: { messages: 0, bytes: 0 }, sent: { messages: 0, bytes: 0 } };
}
