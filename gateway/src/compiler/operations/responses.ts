/**
 * Responses of operations: content types for negotiation, schemas if responses are validated, and examples if a plugin
 * answers with them.
 */
import type { Content, Operation, ResponseValidation } from '../../artifact/format.ts';
import { type Located, member, placeOf } from '../../spec/documents.ts';
import { followed, followedPart } from '../../spec/follow-object.ts';
import { isObject } from '../../spec/json.ts';
import { RESPONSE, warnOfMisspelt } from '../../spec/misspelt-fields.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import { contentOf } from './content.ts';
import { describedResponsesOf } from './described-responses.ts';
import { type Deps, mediaTypeOf } from './parameters.ts';

export function responsesOf(
  { at, spec }: DeclaredOperation,
  deps: Deps,
  exemplary: boolean,
): Pick<Operation, 'validate_response' | 'responses' | 'described_responses' | 'produces'> {
  const declared = declaredResponses(at, deps);
  const contents = declared.map(
    ([status, response]): Declared => [
      status,
      followedPart(member(response, 'content'), '"content"', deps.documents, deps.diagnostics),
    ],
  );
  const types = producesOf(contents);
  const validate = validationOf(at, deps);
  const responses = (): [string, Content][] =>
    contents.map(([status, content]) => [status, contentOf(content, spec.dialect, 'response', deps)]);
  return {
    ...(types ? { produces: types } : {}),
    ...(validate ? { validate_response: validate, responses: Object.fromEntries(responses()) } : {}),
    ...(exemplary ? { described_responses: describedResponsesOf(declared, spec.dialect, deps) } : {}),
  };
}

/** A response with its status, upper case. */
export type Declared = readonly [status: string, at: Located];

/** Returns the declared responses of an operation. */
export function declaredResponses(at: Located, { documents, diagnostics }: Deps): readonly Declared[] {
  const responses = followedPart(member(at, 'responses'), '"responses"', documents, diagnostics);
  const statuses = isObject(responses.value) ? Object.keys(responses.value) : [];
  return statuses.flatMap((status): Declared[] => {
    const response = status.startsWith('x-') ? null : followed(member(responses, status), documents, diagnostics);
    if (!response || !isObject(response.value)) return [];
    warnOfMisspelt(response, RESPONSE, diagnostics);
    return [[status.toUpperCase(), response]];
  });
}

/** Returns undefined if a response that is not an error lacks content, or has any: then every `Accept` can be met. */
function producesOf(declared: readonly Declared[]): readonly string[] | undefined {
  const good = declared.filter(([status]) => /^[123]/.test(status));
  const decisive = good.length > 0 ? good : declared.filter(([status]) => status === 'DEFAULT');
  const types = decisive.map(([, { value }]) => (isObject(value) ? Object.keys(value).map(mediaTypeOf) : []));
  if (types.length === 0 || types.some((each) => each.length === 0 || each.includes('*/*'))) return undefined;
  return [...new Set(types.flat())].sort();
}

function validationOf(at: Located, { diagnostics }: Deps): ResponseValidation | undefined {
  const mode = member(at, 'x-gw-validate-response');
  const { value } = mode;
  if (value === 'log' || value === 'enforce' || value === 'enforce-json') return value;
  // YAML 1.1 readers make false of `off`.
  if (value === undefined || value === 'off' || value === false) return undefined;
  diagnostics.add(
    'E1012',
    placeOf(mode),
    `x-gw-validate-response is ${JSON.stringify(value)?.slice(0, 60)}: it must be off, log, enforce or enforce-json`,
    'Write x-gw-validate-response: off, log, enforce or enforce-json.',
  );
  return undefined;
}
