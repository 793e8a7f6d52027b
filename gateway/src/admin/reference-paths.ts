/** Path of the API reference on the admin port, in development. */
export const REFERENCE_PATH = '/reference/';
/** Path of requests that the page sends through the gateway. */
export const TRY_PATH = `${REFERENCE_PATH}try/`;
