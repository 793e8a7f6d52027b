/**
 * Contributions of features to the core, which names none of them: `features/features.ts` lists them, and the entries
 * of programs hand the list in.
 */
import type { DescribedMetric } from '../telemetry/scraped-metric.ts';
import type { Capability } from './capability.ts';
import type { ConfigFeatures } from './config-checks.ts';

/** A capability whose modules are imported when a plugin needs it. */
export interface CapabilityImport {
  /** Names of all its host functions. */
  readonly functions: readonly string[];
  /** Scrapers are told of all metrics, whether or not they have values. */
  readonly metrics: readonly DescribedMetric[];
  load(): Promise<Capability>;
}

export interface Features extends ConfigFeatures {
  readonly capabilities: readonly CapabilityImport[];
}
