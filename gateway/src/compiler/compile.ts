/**
 * The compiler: a project in, an artifact or diagnostics out (docs/reference/gateway.md#project). read → parse →
 * resolve → check → bind → emit; faults of the inputs are never thrown.
 */
import { createSigner, KeyError, type Signer } from '../artifact/signature.ts';
import type { Features } from '../capability/features.ts';
import { Diagnostics, type FoundError } from '../spec/diagnostic.ts';
import type { Document } from '../spec/document.ts';
import { Documents, type ParsedTexts } from '../spec/documents.ts';
import { type Compiled, checkAndBind } from './check.ts';
import type { CompileOptions, CompileResult } from './compile-result.ts';
import { emit } from './emit.ts';
import { leftOutBy, leftOutOf } from './left-out-operations.ts';
import { parse } from './parse.ts';
import type { ConfigChecks } from './plugins/conditions.ts';
import { conditionReader, dataCompilersOf } from './plugins/conditions.ts';
import { checkLoads } from './plugins/load-check.ts';
import type { Project } from './project/project.ts';
import { read, type Sources } from './read.ts';
import { resolve } from './resolve.ts';

/**
 * Compiles with the features that the program has. Equal projects give equal hashes, in any order of files, and equal tars with `sourceDateEpoch`
 * (docs/decisions.md#reproducible-hash).
 */
export async function compileWith(
  features: Features,
  project: Project,
  { loadsPlugins = true, missing }: CompileOptions = {},
): Promise<CompileResult> {
  const checks = {
    isHash: features.isHash,
    readCondition: await conditionReader(project, features),
    dataCompilers: await dataCompilersOf(project, features),
  };
  const parsed: ParsedTexts = new Map();
  const omitted = new Map<string, FoundError>();
  for (;;) {
    const diagnostics = new Diagnostics({ production: project.flags.production === true });
    const sources = read(project, diagnostics);
    const documents = new Documents(sources.files, diagnostics, missing, parsed);
    const signer = signerOf(project, diagnostics);
    const attempt = judge(project, { sources, documents, diagnostics, checks, omitted });
    if (attempt && loadsPlugins) await checkLoads(attempt.compiled, { project, diagnostics, features });
    if (attempt && diagnostics.hasErrors && project.flags.leaveOut === true) {
      const { more, isServable } = leftOutBy(diagnostics.errors, attempt, documents, {
        omitted,
        manifest: project.manifest?.name,
      });
      for (const [key, error] of more) omitted.set(key, error);
      if (more.size > 0) continue;
      if (isServable && diagnostics.isComplete) diagnostics.demote();
    }
    const { manifest } = project;
    const textOf = (file: string) => (file === manifest?.name ? manifest.text : documents.textOf(file));
    const list = () => diagnostics.list(textOf);
    if (!attempt || diagnostics.hasErrors) return { ok: false, diagnostics: list() };
    const { compiled } = attempt;
    const { bytes, manifest: sealed, tarSha256 } = await emit(compiled, project.flags, signer);
    return {
      ok: true,
      artifact: bytes,
      artifactHash: sealed.artifact_hash,
      tarSha256,
      manifest: sealed,
      inherited: compiled.inherited,
      leftOut: leftOutOf(compiled.operations, omitted),
      diagnostics: list(),
    };
  }
}

interface JudgeDeps {
  readonly sources: Sources;
  readonly documents: Documents;
  readonly diagnostics: Diagnostics;
  readonly checks: ConfigChecks;
  readonly omitted: ReadonlyMap<string, FoundError>;
}

interface Attempt {
  readonly compiled: Compiled;
  readonly specs: readonly Document[];
}

/** Hint for documents that nest too deeply. */
export const TOO_DEEP = 'Nest fewer levels, or replace chains of $ref by one reference to the schema at their end.';

/** Returns null if the documents cannot be judged at all. */
function judge(project: Project, deps: JudgeDeps): Attempt | null {
  const { sources, documents, diagnostics, checks, omitted } = deps;
  try {
    const specs = parse(sources, documents, diagnostics);
    const resolved = resolve(specs, documents, diagnostics);
    const keys = new Set(omitted.keys());
    const compiled = checkAndBind(resolved, project, documents, diagnostics, checks, keys);
    return { compiled, specs: resolved.specs.map(({ spec }) => spec.document) };
  } catch (error) {
    // The stack ends before the limits on depth do only for input made to exhaust it.
    if (!(error instanceof RangeError)) throw error;
    diagnostics.add('E1004', null, 'the documents nest or refer to each other too deeply', TOO_DEEP);
    return null;
  }
}

function signerOf({ flags }: Project, diagnostics: Diagnostics): Signer | undefined {
  if (flags.signingKey === undefined) return undefined;
  try {
    return createSigner(flags.signingKey);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    diagnostics.add('E1043', null, error.message);
    return undefined;
  }
}
