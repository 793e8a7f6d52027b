/**
 * The upstream by which a document names the app of a sidecar, without knowing its port
 * (docs/decisions.md#app-upstream).
 */
export const APP_UPSTREAM = 'upstream://app';
