/** Every host function of ABI version 1: adding a capability is its file and one line here. */

import { cacheFunctions } from './cache.ts';
import { celFunctions } from './cel.ts';
import { chunkFunctions } from './chunk.ts';
import { clientCertificateFunctions } from './client-certificate.ts';
import { clockFunctions } from './clock.ts';
import { configFunctions } from './config.ts';
import { contextFunctions } from './context.ts';
import { credentialFunctions } from './credential.ts';
import { directoryFunctions } from './directory.ts';
import { hmacFunctions } from './hmac.ts';
import type { HostFunction } from './host-function.ts';
import { httpCallFunctions } from './http-call.ts';
import { httpStreamFunctions } from './http-stream.ts';
import { logFunctions } from './log.ts';
import { nonceFunctions } from './nonce.ts';
import { passwordFunctions } from './password.ts';
import { randomFunctions } from './random.ts';
import { rateLimitFunctions } from './rate-limit.ts';
import { requestFunctions } from './request.ts';
import { requestBodyFunctions } from './request-body.ts';
import { requestHeaderFunctions } from './request-headers.ts';
import { requestRawFunctions } from './request-raw.ts';
import { responseFunctions } from './response.ts';
import { signatureFunctions } from './signature.ts';
import { tokenFunctions } from './token.ts';

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
