export { EgressGuard, type EgressOptions } from './guard.ts';
