/**
 * The compiler: a project in, an artifact or diagnostics out (docs/reference/gateway.md#project).
 * read → parse → resolve → check → bind → emit; nothing is thrown for what the inputs hold.
 */

import type { Manifest } from '../artifact/format.ts';
import { createSigner, KeyError, type Signer } from '../artifact/signature.ts';
import { type Diagnostic, Diagnostics } from '../spec/diagnostic.ts';
import { Documents } from '../spec/documents.ts';
import { checkAndBind, type InheritedRoute } from './check.ts';
import { conditionReader } from './conditions.ts';
import { emit } from './emit.ts';
import { checkLoads } from './load-check.ts';
import { parse } from './parse.ts';
import type { Project } from './project.ts';
import { read } from './read.ts';
import { resolve } from './resolve.ts';

export type CompileResult =
  | {
      readonly ok: true;
      /** The bytes of the .gwa. */
      readonly artifact: Uint8Array;
      /** `sha256:<hex>`. */
      readonly artifactHash: string;
      /** Hex sha256 of the tar. */
      readonly tarSha256: string;
      readonly manifest: Manifest;
      /** What became a route, or a tool, by an `x-gw-dispatch` around its operation. */
      readonly inherited: readonly InheritedRoute[];
      /** Warnings. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export interface CompileOptions {
  /**
   * Loads the modules as serving does, so that what serving would refuse is a diagnostic. Default: true.
   *
   * @example { loadsPlugins: false } // for quick feedback on documents: modules are trusted as they are
   */
  readonly loadsPlugins?: boolean;
  /**
   * Told of each file that a reference names, and that the project does not hold, by its name there. Default: nobody.
   *
   * @example (name) => watch(join(folder, name))
   */
  readonly missing?: (name: string) => void;
}

/**
 * Equal projects give equal hashes, in any order of files, and equal tars with `sourceDateEpoch`
 * (docs/decisions.md#reproducible-hash).
 */
export async function compile(
  project: Project,
  { loadsPlugins = true, missing }: CompileOptions = {},
): Promise<CompileResult> {
  const diagnostics = new Diagnostics({ production: project.flags.production === true });
  const sources = read(project, diagnostics);
  const documents = new Documents(sources.files, diagnostics, missing);
  const refused = (): CompileResult => ({
    ok: false,
    diagnostics: diagnostics.list((file) => documents.textOf(file)),
  });
  const signer = signerOf(project, diagnostics);
  const readCondition = await conditionReader(project);
  let compiled: ReturnType<typeof checkAndBind> | null = null;
  try {
    const specs = parse(sources, documents, diagnostics);
    const resolved = resolve(specs, documents, diagnostics);
    compiled = checkAndBind(resolved, project, documents, diagnostics, readCondition);
  } catch (error) {
    // The stack ends before the limits on depth do only for input made to exhaust it.
    if (!(error instanceof RangeError)) throw error;
    diagnostics.add('E1004', null, 'the documents nest or refer to each other too deeply');
  }
  if (compiled && loadsPlugins) await checkLoads(compiled.loads, diagnostics);
  if (!compiled || diagnostics.hasErrors) return refused();
  const { bytes, manifest, tarSha256 } = await emit(compiled, project.flags, signer);
  return {
    ok: true,
    artifact: bytes,
    artifactHash: manifest.artifact_hash,
    tarSha256,
    manifest,
    inherited: compiled.inherited,
    diagnostics: diagnostics.list((file) => documents.textOf(file)),
  };
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
