/** Turns a schema into the check that makes an unknown value an object of its kind. */
import { Ajv } from 'ajv';
import { isRecord, type KubeObject, type Resource } from '../kube/kube-object.ts';
import type { FromSchema, Schema } from './schema.ts';

/** Not strict: schemas carry the x-kubernetes keywords. Defaults are filled in, as the API server does. */
const ajv = new Ajv({ strict: false, useDefaults: true, allErrors: true, validateFormats: false });

const metadata = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1 },
    namespace: { type: 'string' },
    uid: { type: 'string' },
    resourceVersion: { type: 'string' },
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string' },
    deletionTimestamp: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
  },
} as const satisfies Schema;

/** A value is not an object of its declared kind; the message names the fault, by JSON pointer. */
export class ObjectError extends Error {}

/** Defines a kind whose objects have the properties of `body` beside metadata. */
export function resource<B extends Schema>(
  apiVersion: string,
  kind: string,
  plural: string,
  body: B,
): Resource<KubeObject & FromSchema<B>> {
  const check = ajv.compile<KubeObject & FromSchema<B>>({
    type: 'object',
    required: ['metadata', ...(body.required ?? [])],
    properties: { metadata, ...body.properties },
  });
  const parsed = new WeakMap<KubeObject, KubeObject & FromSchema<B>>();
  const parse = (value: unknown) => {
    const object = isRecord(value) ? { ...value, apiVersion, kind } : value;
    if (check(object)) return object;
    const reasons = (check.errors ?? []).map((error) => `${error.instancePath || '/'} ${error.message}`);
    throw new ObjectError(`${kind}: ${[...new Set(reasons)].slice(0, 5).join('; ')}`);
  };
  return {
    apiVersion,
    kind,
    plural,
    parse,
    parseOnce(value) {
      const known = parsed.get(value);
      if (known) return known;
      const object = parse(value);
      parsed.set(value, object);
      return object;
    },
  };
}
