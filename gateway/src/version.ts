/**
 * The version of gw: compiler, data plane, control plane and operator share it (docs/decisions.md#first-version-0-8).
 */
export const VERSION = '0.8.0';
