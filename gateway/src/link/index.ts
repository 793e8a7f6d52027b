/** The data-plane link (docs/data-plane-protocol.md): its messages, and the data plane's end of it. */
export * from './close-codes.ts';
export * from './messages.ts';
export { MalformedMessage, readToControl, readToDataPlane } from './read-message.ts';
