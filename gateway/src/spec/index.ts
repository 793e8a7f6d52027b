/** Reading documents, for programs that edit them. */
export { JsonScanner } from './json-position.ts';
export { parseText } from './parse.ts';
export { pointerTokens, valueAt } from './pointer.ts';
export { mergePatch } from './traits.ts';
export { CREDENTIALS_HINT, credentialPlaces, hideCredentials } from './url-credentials.ts';
