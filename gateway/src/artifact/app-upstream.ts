/**
 * The upstream that a document names to reach the app whose sidecar serves it, without knowing its port
 * (docs/decisions.md#app-upstream).
 */
export const APP_UPSTREAM = 'upstream://app';
