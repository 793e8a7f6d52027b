/** What one artifact changes against another. */
export { type Change, diffArtifacts } from './artifacts.ts';
export { renderChanges } from './render.ts';
