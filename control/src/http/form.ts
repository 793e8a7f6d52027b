/** Multipart forms with one file, which is consumed as it streams in, at any position in the form. */
import type { IncomingMessage } from 'node:http';
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Static, TObject } from 'typebox';
import { BlobTooLarge } from '../db/blobs.ts';
import { ControlError } from '../errors.ts';
import { validationProblem } from './validation.ts';

export interface Form<F, T> {
  /** Fields in the types of the schema. */
  readonly fields: F;
  readonly filename: string;
  /** Result of `take`. */
  readonly file: T;
}

/** Reads the file to its end. */
type Take<T> = (content: AsyncIterable<Uint8Array>) => Promise<T>;

/** In any script; without invisible characters, and without quotes for headers. */
const FILENAME = /^[^\p{C}\p{Zl}\p{Zp}"\\]+$/u;
/** Characters of a file's name. */
const MAX_FILENAME = 200;
/** Bytes of a refused request that are still read before its connection is cut. */
const MAX_DRAINED = 512 << 20;

/**
 * Reads a form. `schema`: of all fields; the file's is `file`, and the others are text. A BlobTooLarge from `take`
 * becomes 413. Throws 415 if the request has no form, 400 if the form does not match the schema, or breaks off.
 */
export async function readForm<S extends TObject, T>(
  request: FastifyRequest,
  schema: S,
  take: Take<T>,
): Promise<Form<Omit<Static<S>, 'file'>, T>> {
  const fields = new Map<string, string>();
  let taken: { readonly filename: string; readonly file: T } | null = null;
  try {
    for await (const part of request.parts({ limits: { fileSize: Number.MAX_SAFE_INTEGER } })) {
      if (part.type === 'file') taken = await takeFile(part, take);
      else fields.set(part.fieldname, textOf(part, fields));
    }
  } catch (error) {
    drain(request.raw);
    throw formProblem(error);
  }
  const given = { ...Object.fromEntries(fields), ...(taken ? { file: '' } : {}) };
  const validate = request.getValidationFunction(schema) ?? request.compileValidationSchema(schema, 'body');
  if (!validate(given)) throw validationProblem(validate.errors ?? [], 'body');
  if (!taken) throw new ControlError('bad-request', 'the form has no file: send it as the field "file"');
  return { fields: given as Omit<Static<S>, 'file'>, ...taken };
}

async function takeFile<T>({ fieldname, filename, file }: MultipartFile, take: Take<T>) {
  const refuse = (why: string) => {
    // Otherwise the reader would wait for the rest of it.
    file.destroy();
    return new ControlError('bad-request', why);
  };
  if (fieldname !== 'file') throw refuse('the form has a file under another name: send it as the field "file"');
  // It is shown to people, and sent in headers when the file is downloaded.
  if (!filename || filename.length > MAX_FILENAME || !FILENAME.test(filename)) {
    throw refuse(
      `the file must have a filename, of at most ${MAX_FILENAME} characters without control characters, " and \\`,
    );
  }
  // The form may have broken off before anybody could listen.
  if (file.errored !== null) throw brokenOff(file.errored);
  let fault: unknown;
  file.on('error', (error) => {
    fault = error;
  });
  try {
    return { filename, file: await take(file) };
  } catch (error) {
    if (error instanceof BlobTooLarge || error instanceof ControlError) throw error;
    // The reader's own errors are not the form's fault, although the stream fails then, too.
    throw error === fault ? brokenOff(error) : new TakeFailed(error);
  }
}

class TakeFailed extends Error {
  constructor(cause: unknown) {
    super('the file could not be processed', { cause });
  }
}

function textOf(part: MultipartValue, before: ReadonlyMap<string, string>): string {
  const { fieldname, value, fieldnameTruncated, valueTruncated } = part;
  const refuse = (why: string) => new ControlError('bad-request', `the form field "${fieldname.slice(0, 100)}" ${why}`);
  if (fieldnameTruncated || valueTruncated) throw refuse('is too long');
  if (fieldname === 'file') throw refuse('must be a file, with a filename');
  if (typeof value !== 'string') throw refuse('must be text');
  if (before.has(fieldname)) throw refuse('is given twice');
  return value;
}

/** Reads the rest, so that the client reads the answer, and the connection can continue. */
function drain(request: IncomingMessage): void {
  let left = MAX_DRAINED;
  request.unpipe();
  request.on('data', (piece: Uint8Array) => {
    left -= piece.length;
    if (left < 0) request.destroy();
  });
  request.resume();
}

function formProblem(error: unknown): unknown {
  if (error instanceof TakeFailed) return error.cause;
  if (error instanceof ControlError) return error;
  if (error instanceof BlobTooLarge) {
    return new ControlError('payload-too-large', `the file has more than ${error.limit} bytes`);
  }
  const { code } = error as { readonly code?: unknown };
  if (code === 'FST_FILES_LIMIT') return new ControlError('bad-request', 'the form has more than one file');
  // Errors of the parser without a code are all about the form.
  return typeof code === 'string' && code.startsWith('FST_') ? error : brokenOff(error);
}

function brokenOff(cause: unknown): ControlError {
  const detail = 'the multipart form is malformed or incomplete: send it again in full';
  return new ControlError('bad-request', detail, {}, { cause });
}
