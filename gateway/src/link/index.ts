/** The data-plane link (docs/data-plane-protocol.md): its messages, and the data plane's end of it. */
export { controlPlaneAddress } from './address.ts';
export { ControlPlaneLink, type LinkHost, type LinkOptions } from './control-plane-link.ts';
export * from './protocol.ts';
