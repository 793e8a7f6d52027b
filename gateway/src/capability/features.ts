/**
 * Contributions of features to the core, which names none of them: `features/features.ts` lists them, and the entries
 * of programs hand the list in.
 */
import type { Capability } from './capability.ts';
import type { ConfigFeatures } from './config-checks.ts';

export interface Features extends ConfigFeatures {
  readonly capabilities: readonly Capability[];
}
