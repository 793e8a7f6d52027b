/** Messages of both ends of the data-plane link (docs/data-plane-protocol.md), without either end. */
export * from './close-codes.ts';
export * from './messages.ts';
export { readToControl } from './read-message.ts';
