/** Validates parameters and bodies by their schemas, and describes errors for problem documents. */

import type { AnySchema, ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FastifyError, FastifySchemaCompiler } from 'fastify';
import { ControlError, type ProblemError } from '../errors.ts';

type Raised = NonNullable<FastifyError['validation']>;

/** Bodies are taken as they are; parameters are text, of which numbers and booleans are made. */
export function validatorCompiler(named: readonly AnySchema[]): FastifySchemaCompiler<AnySchema> {
  const make = (coerceTypes: boolean) => {
    const ajv = new Ajv2020({ coerceTypes, useDefaults: true, allErrors: false, strict: false });
    // The package's types and Node.js' import place the function differently.
    (typeof addFormats === 'function' ? addFormats : (addFormats as { default: (ajv: Ajv2020) => void }).default)(ajv);
    for (const schema of named) ajv.addSchema(schema);
    return ajv;
  };
  const bodies = make(false);
  const parameters = make(true);
  return ({ schema, httpPart }) => (httpPart === 'body' ? bodies : parameters).compile(schema);
}

/** Names of the parts of a request. */
const PARTS: Readonly<Record<string, string>> = {
  params: 'the path',
  querystring: 'the query',
  headers: 'the headers',
  body: 'the body',
};

export function validationProblem(validation: Raised, context: string | undefined): ControlError {
  const errors = validation.map((each): ProblemError => ({ pointer: pointerOf(each), message: messageOf(each) }));
  const where = PARTS[context ?? 'body'] ?? 'the request';
  const [first] = errors;
  // An impossible id or name cannot exist: not found.
  if (context === 'params') {
    return ControlError.notFound(`path with such a part: ${first?.pointer.slice(1)} ${first?.message}`);
  }
  const place = first?.pointer ? ` at ${first.pointer}` : '';
  return new ControlError('bad-request', `${where} is not valid${place}: ${first?.message}`, { errors });
}

type Fault = Raised[number] | ErrorObject;

function pointerOf({ instancePath }: Fault): string {
  return instancePath;
}

function messageOf({ message = 'is not allowed', params }: Fault): string {
  const { additionalProperty, allowedValues } = params as Readonly<Record<string, unknown>>;
  if (typeof additionalProperty === 'string') return `has an unknown property ${JSON.stringify(additionalProperty)}`;
  if (Array.isArray(allowedValues)) return `${message}: ${allowedValues.join(', ')}`;
  return message;
}
