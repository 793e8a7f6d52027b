/** For programs that must be told theirs. */
export { freePort } from '../operator/src/local/free-port.ts';
