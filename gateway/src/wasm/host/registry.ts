/** Every host function of ABI version 1: adding a capability is its file and one line here. */

import { cacheFunctions } from '../../capabilities/cache/capability.ts';
import { celFunctions } from '../../capabilities/cel/capability.ts';
import { clientCertificateFunctions } from '../../capabilities/client-certificate/capability.ts';
import { credentialFunctions } from '../../capabilities/credentials/capability.ts';
import { directoryFunctions } from '../../capabilities/directory/capability.ts';
import { hmacFunctions } from '../../capabilities/hmac/capability.ts';
import { httpCallFunctions } from '../../capabilities/http-call/capability.ts';
import { httpStreamFunctions } from '../../capabilities/http-stream/capability.ts';
import { logFunctions } from '../../capabilities/log/capability.ts';
import { nonceFunctions } from '../../capabilities/nonces/capability.ts';
import { passwordFunctions } from '../../capabilities/passwords/capability.ts';
import { rateLimitFunctions } from '../../capabilities/rate-limits/capability.ts';
import { requestRawFunctions } from '../../capabilities/raw-request/capability.ts';
import { signatureFunctions } from '../../capabilities/signatures/capability.ts';
import { tokenFunctions } from '../../capabilities/tokens/capability.ts';
import { chunkFunctions } from './chunk.ts';
import { clockFunctions } from './clock.ts';
import { configFunctions } from './config.ts';
import { contextFunctions } from './context.ts';
import type { HostFunction } from './host-function.ts';
import { randomFunctions } from './random.ts';
import { requestFunctions } from './request.ts';
import { requestBodyFunctions } from './request-body.ts';
import { requestHeaderFunctions } from './request-headers.ts';
import { responseFunctions } from './response.ts';

/** The module that plugins import from. Another version of the ABI has another name. */
export const ABI_MODULE = 'gw_abi_1';

export const HOST_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map(
  Object.entries({
    ...configFunctions,
    ...requestFunctions,
    ...requestHeaderFunctions,
    ...requestRawFunctions,
    ...requestBodyFunctions,
    ...contextFunctions,
    ...responseFunctions,
    ...chunkFunctions,
    ...clockFunctions,
    ...randomFunctions,
    ...logFunctions,
    ...nonceFunctions,
    ...rateLimitFunctions,
    ...cacheFunctions,
    ...credentialFunctions,
    ...celFunctions,
    ...passwordFunctions,
    ...directoryFunctions,
    ...hmacFunctions,
    ...clientCertificateFunctions,
    ...httpStreamFunctions,
    ...httpCallFunctions,
    ...tokenFunctions,
    ...signatureFunctions,
  }),
);
