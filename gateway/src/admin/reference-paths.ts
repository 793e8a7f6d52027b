/** Where the admin port has the reference of the API, in development. */
export const REFERENCE_PATH = '/reference/';
/** Below it: requests that its page sends through the gateway. */
export const TRY_PATH = `${REFERENCE_PATH}try/`;
