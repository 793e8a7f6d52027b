/**
 * The data-plane channel (docs/data-plane-protocol.md), for its hosts: the REST server and the operator
 * (docs/decisions.md#later-artifacts-over-link).
 */
export { DataPlaneChannel } from './data-plane-channel.ts';
export * from './ports.ts';
