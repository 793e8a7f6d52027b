/** Bounds of what a project's rules may take; the Core Rule Set needs less than a tenth of each. */
export const MAX_FILES = 500;
/** Bytes of one file of rules or data. */
export const MAX_FILE_BYTES = 4 << 20;
/** Bytes of one directive with its continuation lines. */
export const MAX_DIRECTIVE_BYTES = 128 << 10;
/** Directives of all files, each rule of a chain included. */
export const MAX_DIRECTIVES = 20_000;
/** Phrases of one operator. */
export const MAX_PHRASES = 50_000;
/** Targets or actions of one directive. */
export const MAX_LIST = 1_000;
/** Changes that directives and `ctl` actions make to rules: the sum of the rules that each concerns. */
export const MAX_CHANGES = 2_000_000;
/** Errors of one file, behind which it is not read on, and warnings that are kept. */
export const MAX_DIAGNOSTICS = 200;
/** Groups of a pattern inside each other. */
export const MAX_GROUP_DEPTH = 100;
