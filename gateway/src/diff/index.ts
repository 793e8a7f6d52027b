/** Compares two artifacts. */

export { diffArtifacts } from './artifacts.ts';
export { describedStatuses } from './described-statuses.ts';
export { renderChanges } from './render.ts';
