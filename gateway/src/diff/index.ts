/** Compares two artifacts. */

export { diffArtifacts } from './artifacts.ts';
export { renderChanges } from './change.ts';
export { describedStatuses } from './described-statuses.ts';
