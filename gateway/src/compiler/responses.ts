/** What operations answer with: content types for negotiation, and schemas where responses are validated. */
import type { Content, Operation, ResponseValidation } from '../artifact/format.ts';
import { type Located, member, placeOf } from '../spec/documents.ts';
import { followed } from '../spec/follow-object.ts';
import { isObject } from '../spec/json.ts';
import type { DeclaredOperation } from '../spec/operations.ts';
import { contentOf } from './content.ts';
import { type Deps, mediaTypeOf } from './parameters.ts';

export function responsesOf(
  { at, spec }: DeclaredOperation,
  deps: Deps,
): Pick<Operation, 'validate_response' | 'responses' | 'produces'> {
  const declared = declaredContent(at, deps);
  const types = producesOf(declared);
  const validate = validationOf(at, deps);
  const produces = types ? { produces: types } : {};
  if (!validate) return produces;
  const responses = declared.map(([status, content]): [string, Content] => [
    status,
    contentOf(content, spec.dialect, 'response', deps),
  ]);
  return { ...produces, validate_response: validate, responses: Object.fromEntries(responses) };
}

/** The `content` of each response, also where it has none. */
function declaredContent(at: Located, { documents, diagnostics }: Deps): [status: string, content: Located][] {
  const responses = member(at, 'responses');
  const statuses = isObject(responses.value) ? Object.keys(responses.value) : [];
  return statuses.flatMap((status): [string, Located][] => {
    const response = status.startsWith('x-') ? null : followed(member(responses, status), documents, diagnostics);
    return response && isObject(response.value) ? [[status.toUpperCase(), member(response, 'content')]] : [];
  });
}

/** Undefined where some answer that is no error has no content, or any: then nothing that a client accepts is wrong. */
function producesOf(declared: readonly [status: string, content: Located][]): readonly string[] | undefined {
  const good = declared.filter(([status]) => /^[123]/.test(status));
  const decisive = good.length > 0 ? good : declared.filter(([status]) => status === 'DEFAULT');
  const types = decisive.map(([, { value }]) => (isObject(value) ? Object.keys(value).map(mediaTypeOf) : []));
  if (types.length === 0 || types.some((each) => each.length === 0 || each.includes('*/*'))) return undefined;
  return [...new Set(types.flat())].sort();
}

function validationOf(at: Located, { diagnostics }: Deps): ResponseValidation | undefined {
  const mode = member(at, 'x-gw-validate-response');
  const { value } = mode;
  if (value === 'log' || value === 'enforce') return value;
  // YAML 1.1 readers make false of `off`.
  if (value === undefined || value === 'off' || value === false) return undefined;
  diagnostics.add(
    'E1012',
    placeOf(mode),
    `x-gw-validate-response is ${JSON.stringify(value)?.slice(0, 60)}: it must be off, log or enforce`,
    'Write x-gw-validate-response: off, log or enforce.',
  );
  return undefined;
}
