/** The data-plane link (docs/data-plane-protocol.md): its messages, and the data plane's end of it. */
export { controlPlaneAddress, LinkAddressError } from './address.ts';
export type { RetryTimes } from './backoff.ts';
export { ControlPlaneLink, type LinkHost, type LinkOptions } from './control-plane-link.ts';
export * from './protocol.ts';
export { UpdateError } from './update-error.ts';
