/** The version of gw: compiler, data plane, control plane and operator share it (D11). */
export const VERSION = '0.8.0';
