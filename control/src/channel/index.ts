/** The data-plane channel (docs/data-plane-protocol.md), for whoever hosts it: the REST server, the operator (D36). */
export { DataPlaneChannel } from './data-plane-channel.ts';
export * from './ports.ts';
