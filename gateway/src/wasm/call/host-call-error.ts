/** The plugin made an invalid host call; the message names the fault. Ends the call. */
export class HostCallError extends Error {}
