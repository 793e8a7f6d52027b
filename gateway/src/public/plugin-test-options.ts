/** Options of plugin tests for the testing kit: independent of the runtime that they run on. */
export type { Json, JsonObject } from '../artifact/format.ts';
export type { ClientCertificate } from '../client-certificate.ts';
export { MemoryState } from '../state/memory-state.ts';
export { type State, StateUnavailable } from '../state/state.ts';
