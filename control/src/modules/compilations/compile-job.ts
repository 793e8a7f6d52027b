/** One compilation, from its claim to its end: reading, compiling, storing. */
import { type CompileFlags, type Diagnostic, ERROR_CODES, type Project } from '@gw/gateway/compiler';
import { compileOn } from '../../compile.ts';
import type { CompileProcess } from '../../compile-process.ts';
import type { Context } from '../../context.ts';
import { ControlError } from '../../errors.ts';
import { storeArtifact } from '../artifacts/store.ts';
import { MAX_ARTIFACT } from '../artifacts/verify-artifact.ts';
import { notifyCompilation } from './notifications.ts';
import { end, enter, type Job, JobLost, type Outcome, type Stage } from './queue.ts';
import { readInputs, SourcesTooLarge, withSpec } from './read-inputs.ts';
import { withDeclarations } from './undeclared-plugins.ts';

export interface CompileSettings {
  /** PEM of a PKCS#8 Ed25519 private key: signs production builds (docs/decisions.md#production-builds). */
  readonly signingKey?: string | undefined;
  /** Builds that are not for production may name http:// and ws:// upstreams. Default false. */
  readonly allowPlaintext?: boolean;
}

export interface JobSettings extends CompileSettings {
  /** Aborted when the process is taken away from under it. */
  readonly signal: AbortSignal;
}

export type Ended = Extract<Job['status'], 'succeeded' | 'failed'>;

/** Throws JobLost if another replica has the job now, and errors of the database. */
export async function runJob(
  context: Context,
  job: Job,
  compiler: CompileProcess,
  settings: JobSettings,
): Promise<Ended> {
  const { db } = context;
  const at = async (stage: Stage) => {
    await enter(db.kysely, job, stage);
    await notifyCompilation(db.notifications, { ...job, status: 'compiling' });
  };
  await notifyCompilation(db.notifications, { ...job, status: 'compiling' });
  const project = await gathered(context, job, settings);
  if ('failure' in project) return finish(context, job, { artifactId: null, diagnostics: [project.failure] });
  await at('compiling');
  const result = await compileOn(compiler, project.inputs).catch((error: unknown) => {
    if (settings.signal.aborted) throw new JobLost('the server stops');
    context.log.error({ err: error, compilation: job.id }, 'the compiler failed');
    return { ok: false, diagnostics: [brokenOff('the compiler failed on these documents')] } as const;
  });
  const placed = result.diagnostics.map((each) => withSpec(each, job.inputs));
  const diagnostics = await withDeclarations(db.kysely, job, placed);
  if (!result.ok) return finish(context, job, { artifactId: null, diagnostics });
  await at('storing');
  const { artifact, manifest } = result;
  const blob = await context.blobs.put(piecesOf(artifact), MAX_ARTIFACT);
  // The row of the artifact and the end of the job, or neither.
  await db.kysely.transaction().execute(async (tx) => {
    const { id: artifactId } = await storeArtifact(tx, { blob, manifest, of: job });
    await end(tx, job, { artifactId, diagnostics });
    await notifyCompilation(db.notifications, { ...job, status: 'succeeded' }, tx);
  });
  return 'succeeded';
}

/** Fails the job for a reason that is not a fault of its documents. */
export async function failJob(context: Context, job: Job, message: string): Promise<void> {
  await finish(context, job, { artifactId: null, diagnostics: [brokenOff(message)] });
}

export function brokenOff(message: string): Diagnostic {
  const { severity, hint } = ERROR_CODES.E1009;
  return { code: 'E1009', severity, message, hint };
}

async function finish({ db }: Context, job: Job, outcome: Outcome): Promise<Ended> {
  const status = outcome.artifactId === null ? 'failed' : 'succeeded';
  await db.kysely.transaction().execute(async (tx) => {
    await end(tx, job, outcome);
    await notifyCompilation(db.notifications, { ...job, status }, tx);
  });
  return status;
}

async function gathered(
  context: Context,
  job: Job,
  settings: CompileSettings,
): Promise<{ readonly inputs: Project } | { readonly failure: Diagnostic }> {
  try {
    return { inputs: { ...(await readInputs(context, job.inputs)), flags: flagsOf(job, settings) } };
  } catch (error) {
    if (error instanceof SourcesTooLarge) return { failure: { ...brokenOff(error.message), ...tooLarge() } };
    // Deleted since it was asked for.
    if (error instanceof ControlError && error.problem === 'not-found') return { failure: brokenOff(error.message) };
    throw error;
  }
}

function tooLarge() {
  const { severity, hint } = ERROR_CODES.E1005;
  return { code: 'E1005', severity, hint } as const;
}

/** Signs only production builds: trust in the key implies a strict build. */
function flagsOf({ production }: Job, { signingKey, allowPlaintext = false }: CompileSettings): CompileFlags {
  if (!production) return { allowPlaintext };
  return { production, ...(signingKey === undefined ? {} : { signingKey }) };
}

/** Yields a large buffer in pieces. */
async function* piecesOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
