/** The compiled artifact: its format, and how it is written, read, verified and split (docs/artifact.md). */
export { ArtifactError, type ArtifactErrorReason } from './error.ts';
export * from './format.ts';
export { artifactHash, artifactHashInput, manifestHash } from './hash.ts';
export { type Artifact, type LoadedArchive, type ReadOptions, readArtifact } from './read.ts';
export { createSigner, KeyError, parsePublicKey } from './signature.ts';
export { readSource } from './source.ts';
export { type ArtifactPart, DEFAULT_PART_BYTES, splitArtifact } from './split.ts';
export { readTar, type TarEntry, writeTar } from './tar.ts';
export { watchSource } from './watch.ts';
export { type UnsealedManifest, type WrittenArtifact, writeArtifact } from './write.ts';
