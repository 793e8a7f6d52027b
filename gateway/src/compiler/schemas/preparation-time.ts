/**
 * Finds operations with schemas that take long to compile, as a gateway does before the first value is validated
 * (E1075).
 */
import type { Content, Operation, RoutesFile, SchemaRef } from '../../artifact/format.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { placeOf } from '../../spec/documents.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import { compileMs, MOST_COMPILE_MS } from '../../validation/schemas/compile-time.ts';

/** Milliseconds past which the estimate stops. */
const MOST_MS = 5_000;

export function warnOfPreparation(
  routed: readonly { readonly declared: DeclaredOperation; readonly operation: Operation }[],
  schemas: RoutesFile['schemas'],
  diagnostics: Diagnostics,
): void {
  const known = new Map<string, number>();
  const msOf = ({ $ref }: SchemaRef) => {
    const ms = known.get($ref) ?? compileMs(schemas, { $ref }, MOST_MS);
    known.set($ref, ms);
    return ms;
  };
  for (const { declared, operation } of routed) {
    const ms = Math.max(0, ...schemasOf(operation).map(msOf));
    if (ms <= MOST_COMPILE_MS) continue;
    const time = ms > MOST_MS ? `more than ${MOST_MS / 1000} s` : `about ${(ms / 1000).toFixed(1)} s`;
    const what = `its schemas take ${time} to prepare: what they describe is validated in a helper process`;
    diagnostics.add('E1075', placeOf(declared.at), what);
  }
}

function schemasOf({ parameters, request_body: body, responses, messages }: Operation): readonly SchemaRef[] {
  const contents: readonly Content[] = [
    ...(body ? [body.content] : []),
    ...Object.values(responses ?? {}),
    ...(messages?.received ? [messages.received] : []),
    ...(messages?.sent ? [messages.sent] : []),
  ];
  return [
    ...parameters.flatMap(({ schema }) => (schema ? [schema] : [])),
    ...contents.flatMap((content) => Object.values(content).flatMap(({ schema }) => (schema ? [schema] : []))),
  ];
}
