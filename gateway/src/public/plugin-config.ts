/**
 * The meaning of a plugin's config for programs that store it: which values are secrets, and which only refer to one.
 */
export { marksOf, replaceMarked } from '../artifact/config-marks.ts';
export { isReference } from '../compiler/plugins/config-schema.ts';
export { manifestFrom, wasmFileOf } from '../plugins/package.ts';
