/** The library that signs; imported by gateways that sign, and by no others. */
export { SignatureV4 } from '@smithy/signature-v4';
