/** Changes of an operation's request body and of its responses. */
import type { Content, Operation } from '../artifact/format.ts';
import { breaking, type Change, compareText, harmless, without } from './change.ts';
import { inRequest, inResponse } from './findings.ts';
import type { SchemaComparison } from './schemas.ts';

export function diffRequestBody(
  subject: string,
  { request_body: before }: Operation,
  { request_body: after }: Operation,
  schemas: SchemaComparison,
): readonly Change[] {
  if (!before && !after) return [];
  if (!after) return [harmless(subject, 'request body is not declared any more')];
  if (!before) {
    const what = 'request body added';
    return [after.required ? breaking(subject, `${what}, and required`) : harmless(subject, what)];
  }
  const [old, now] = [Object.keys(before.content), Object.keys(after.content)];
  return [
    ...(after.required && !before.required ? [breaking(subject, 'request body is required now')] : []),
    ...(before.required && !after.required ? [harmless(subject, 'request body is not required any more')] : []),
    ...without(old, now).map((type) => breaking(subject, `request body: ${type} is not accepted any more`)),
    ...without(now, old).map((type) => harmless(subject, `request body: ${type} is accepted, too`)),
    ...shared(before.content, after.content).flatMap((type) =>
      inRequest(
        subject,
        `request body (${type})`,
        schemas.compare(before.content[type]?.schema, after.content[type]?.schema),
      ),
    ),
  ];
}

/** Content types of all; schemas only if the operation checks responses, since the artifact has no others. */
export function diffResponses(
  subject: string,
  before: Operation,
  after: Operation,
  schemas: SchemaComparison,
): readonly Change[] {
  const [old, now] = [before.produces ?? [], after.produces ?? []];
  const [validated, validates] = [before.validate_response ?? 'off', after.validate_response ?? 'off'];
  return [
    ...(before.produces ? without(now, old).map((type) => harmless(subject, `answers ${type}, too`)) : []),
    ...(after.produces ? without(old, now).map((type) => breaking(subject, `does not answer ${type} any more`)) : []),
    ...(validated === validates ? [] : [harmless(subject, `x-gw-validate-response: ${validated} → ${validates}`)]),
    ...diffStatuses(subject, before.responses, after.responses, schemas),
  ];
}

function diffStatuses(
  subject: string,
  before: Operation['responses'],
  after: Operation['responses'],
  schemas: SchemaComparison,
): readonly Change[] {
  if (!before || !after) return [];
  const [old, now] = [Object.keys(before), Object.keys(after)];
  return [
    ...without(old, now).map((status) => harmless(subject, `response ${status} is not described any more`)),
    ...without(now, old).map((status) =>
      isNewSuccess(status, old) ? newSuccess(subject, status) : harmless(subject, `response ${status} is described`),
    ),
    ...old.flatMap((status) => {
      const [from, to] = [before[status], after[status]];
      if (!from || !to) return [];
      return shared(from, to).flatMap((type) =>
        inResponse(subject, `response ${status} (${type})`, schemas.compare(from[type]?.schema, to[type]?.schema)),
      );
    }),
  ];
}

/** Compares the documents' descriptions, if the artifact has no schemas of answers. */
export function diffDescribed(
  subject: string,
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
): readonly Change[] {
  if (!before || !after || before.length === 0) return [];
  return without(after, before).flatMap((status) =>
    isNewSuccess(status, before) ? [newSuccess(subject, status)] : [],
  );
}

const newSuccess = (subject: string, status: string): Change =>
  breaking(subject, `success is answered with ${status}, too, which was not described`);

/** Clients look at statuses of success one by one, and at failures as such. */
function isNewSuccess(status: string, described: readonly string[]): boolean {
  if (!/^[23]/.test(status)) return false;
  return !described.includes('default') && !described.some((each) => each.toUpperCase() === `${status[0]}XX`);
}

function shared(before: Content, after: Content): readonly string[] {
  return Object.keys(before)
    .filter((type) => Object.hasOwn(after, type))
    .sort(compareText);
}
