/** What a plugin's config means to whoever keeps it: which values are secrets, and which only stand for one. */
export { marksOf, replaceMarked } from '../artifact/config-marks.ts';
export { isReference } from '../compiler/config-schema.ts';
export { manifestFrom, wasmFileOf } from '../plugins/package.ts';
