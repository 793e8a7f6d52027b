/** The plugin asked the host for what is not possible; the message says what. Ends the call. */
export class HostCallError extends Error {}
