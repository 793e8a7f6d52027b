/** The host functions that every plugin has: its config, the request, the response, bodies, time and random bytes. */

import type { HostFunctions } from '../call/host-function.ts';
import { chunkFunctions } from './chunk.ts';
import { clockFunctions } from './clock.ts';
import { configFunctions } from './config.ts';
import { contextFunctions } from './context.ts';
import { randomFunctions } from './random.ts';
import { requestFunctions } from './request.ts';
import { requestBodyFunctions } from './request-body.ts';
import { requestHeaderFunctions } from './request-headers.ts';
import { responseFunctions } from './response.ts';

export const CORE_FUNCTIONS: HostFunctions = {
  ...configFunctions,
  ...requestFunctions,
  ...requestHeaderFunctions,
  ...requestBodyFunctions,
  ...contextFunctions,
  ...responseFunctions,
  ...chunkFunctions,
  ...clockFunctions,
  ...randomFunctions,
};
