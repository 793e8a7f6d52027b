/** Exports for programs that run the control plane inside themselves, as local mode does. */
export { SYSTEM } from './access/actor.ts';
export { asSecret } from './access/secrets.ts';
export type { ControlPlane } from './control-plane.ts';
export { registerPackage } from './modules/plugins/register-package.ts';
export { serve } from './serve.ts';
