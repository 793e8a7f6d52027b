/**
 * Shapes of Kubernetes that values have, by the name that `# @schema` gives them. What they hold deeper down is checked
 * by the API server.
 */

export interface JsonSchema {
  readonly [member: string]: unknown;
}

const string = { type: 'string' };
const name = { type: 'string', minLength: 1, maxLength: 253 };
const boolean = { type: 'boolean' };
const intOrString = { type: ['integer', 'string'] };
const any = { type: 'object', additionalProperties: true };
const map = (values: JsonSchema) => ({ type: 'object', additionalProperties: values });
const list = (items: JsonSchema) => ({ type: 'array', items });
const object = (properties: JsonSchema, ...required: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required.length > 0 ? { required } : {}),
});

const labelSelector = object({
  matchLabels: map(string),
  matchExpressions: list(object({ key: string, operator: string, values: list(string) }, 'key', 'operator')),
});
const quantities = map({ type: ['string', 'number'] });
const keyOf = object({ name, key: { type: 'string', minLength: 1 }, optional: boolean });

export const SHAPES: { readonly [name: string]: JsonSchema } = {
  stringMap: map(string),
  strings: { ...list({ type: 'string', minLength: 1 }), uniqueItems: true },
  names: { ...list(name), uniqueItems: true },
  objects: list(any),
  object: any,
  intOrString,
  labelSelector,
  resources: object({ requests: quantities, limits: quantities, claims: list(any) }),
  affinity: object({ nodeAffinity: any, podAffinity: any, podAntiAffinity: any }),
  tolerations: list(
    object({
      key: string,
      operator: { enum: ['Exists', 'Equal'] },
      value: string,
      effect: { enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
      tolerationSeconds: { type: 'integer' },
    }),
  ),
  topologySpreadConstraints: list(
    object(
      {
        maxSkew: { type: 'integer', minimum: 1 },
        topologyKey: name,
        whenUnsatisfiable: { enum: ['DoNotSchedule', 'ScheduleAnyway'] },
        labelSelector,
        minDomains: { type: 'integer', minimum: 1 },
        matchLabelKeys: list(string),
        nodeAffinityPolicy: { enum: ['Honor', 'Ignore'] },
        nodeTaintsPolicy: { enum: ['Honor', 'Ignore'] },
      },
      'maxSkew',
      'topologyKey',
      'whenUnsatisfiable',
    ),
  ),
  env: list(
    object(
      {
        name: { type: 'string', pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$' },
        value: string,
        valueFrom: object({ secretKeyRef: keyOf, configMapKeyRef: keyOf, fieldRef: any, resourceFieldRef: any }),
      },
      'name',
    ),
  ),
  networkPeers: list(object({ namespaceSelector: labelSelector, podSelector: labelSelector, ipBlock: any })),
  parentRefs: list(
    object(
      {
        group: string,
        kind: string,
        name,
        namespace: name,
        sectionName: name,
        port: { type: 'integer', minimum: 1, maximum: 65535 },
      },
      'name',
    ),
  ),
};
