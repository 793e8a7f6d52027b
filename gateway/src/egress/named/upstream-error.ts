/** The config or the addresses of an upstream are not usable; stops the load (exit 1). */
export class UpstreamError extends Error {}
