/** Every host function of ABI version 1, by name. */
import { hostFunctionTable } from '../src/wasm/host/host-functions.ts';
import { CAPABILITIES } from './capabilities.ts';

export const HOST_FUNCTIONS = hostFunctionTable(CAPABILITIES);
