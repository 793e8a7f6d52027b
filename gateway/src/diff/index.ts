/** Compares two artifacts. */

export { type Change, diffArtifacts } from './artifacts.ts';
export { type DescribedStatuses, describedStatuses } from './described-statuses.ts';
export { renderChanges } from './render.ts';
