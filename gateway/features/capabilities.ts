/** Every capability, imported: for documentation, tests and tools. Gateways import those that their artifact needs. */
import { allCapabilities } from './features.ts';

export const CAPABILITIES_BY_NAME = await allCapabilities();
export const CAPABILITIES = [...CAPABILITIES_BY_NAME.values()];
