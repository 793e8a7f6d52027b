/** The compiled artifact: its format, and how it is written, read, verified and split (docs/artifact.md). */
export { ArtifactError, type ArtifactErrorReason } from './error.ts';
export * from './format.ts';
export { type Artifact, type LoadedArchive, readArtifact } from './read.ts';
export { createSigner, KeyError, parsePublicKey } from './signature.ts';
export { readSource } from './source.ts';
export { DEFAULT_PART_BYTES, splitArtifact } from './split.ts';
export { readTar, writeTar } from './tar.ts';
export { watchSource } from './watch.ts';
