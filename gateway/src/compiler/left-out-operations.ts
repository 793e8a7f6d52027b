/**
 * Operations that a compilation does without, because an error concerns them (docs/decisions.md#left-out-operations).
 */

import type { FoundError } from '../spec/diagnostic.ts';
import type { Document } from '../spec/document.ts';
import type { Documents } from '../spec/documents.ts';
import type { Code } from '../spec/error-codes.ts';
import type { DeclaredOperation } from '../spec/operations.ts';
import { culpritsOf, operationKey, References } from './culprits.ts';

/** An operation that is not served, and why. */
export interface LeftOutOperation {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly code: Code;
  readonly reason: string;
  /** Place of the error: a file of the project, and the pointer in it. */
  readonly file: string;
  readonly pointer: string;
}

interface Judged {
  readonly compiled: { readonly operations: readonly DeclaredOperation[] };
  readonly specs: readonly Document[];
}

/**
 * `more`: operations to be left out, with the error of each. If it is empty, `isServable` says whether the remaining
 * errors concern only parts of the documents that no served operation needs.
 */
export function leftOutBy(
  errors: readonly FoundError[],
  { compiled, specs }: Judged,
  documents: Documents,
  { omitted, manifest }: { readonly omitted: ReadonlyMap<string, FoundError>; readonly manifest: string | undefined },
): { readonly more: ReadonlyMap<string, FoundError>; readonly isServable: boolean } {
  const references = new References(specs, documents);
  const more = new Map<string, FoundError>();
  for (const error of errors) {
    if (isOfAllAlike(error)) continue;
    for (const key of culpritsOf(error, compiled.operations, references)) {
      if (!omitted.has(key) && !more.has(key)) more.set(key, error);
    }
  }
  const roots = new Set(specs.map(({ file }) => file));
  return {
    more,
    isServable: specs.length > 0 && errors.every((error) => error.file !== manifest && isDispensable(error, roots)),
  };
}

/** Reports whether the error is in a part of the root that applies to all operations, and serves none. */
function isOfAllAlike({ pointer }: FoundError): boolean {
  return pointer !== undefined && /^\/(?:security|servers|tags|externalDocs)(?:\/|$)/.test(pointer);
}

/** Reports whether the place of an error may be missing: no setting of the document or the project. */
function isDispensable(error: FoundError, specs: ReadonlySet<string>): boolean {
  const { file, pointer } = error;
  if (file === undefined) return false;
  if (!specs.has(file)) return true;
  if (pointer === undefined) return false;
  return isOfAllAlike(error) || /^\/(?:paths|components|webhooks|channels|operations)\//.test(pointer);
}

export function leftOutOf(
  operations: readonly DeclaredOperation[],
  omitted: ReadonlyMap<string, FoundError>,
): readonly LeftOutOperation[] {
  return operations.flatMap((operation): LeftOutOperation[] => {
    const error = omitted.get(operationKey(operation));
    if (!error) return [];
    const { method, path, at } = operation;
    const { code, message: reason, file = at.document.file, pointer = '' } = error;
    return [{ method, path, code, reason, file, pointer }];
  });
}
