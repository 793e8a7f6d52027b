import { stringify } from 'yaml';
import { GROUP, type KindDefinition, VERSION } from './schema.ts';

/** Returns the CustomResourceDefinition of a kind. */
function crd(definition: KindDefinition): object {
  const { kind, plural, singular, shortNames, description, spec, status, columns, validations } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}`, labels: { 'app.kubernetes.io/part-of': 'gw' } },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind, plural, singular, listKind: `${kind}List`, shortNames, categories: ['gw'] },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          additionalPrinterColumns: columns,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                // A rule may mention the name only if the schema defines it.
                metadata: {
                  type: 'object',
                  ...(validations.length > 0 ? { properties: { name: { type: 'string' } } } : {}),
                },
                spec,
                status,
              },
              ...(validations.length > 0 ? { 'x-kubernetes-validations': validations } : {}),
            },
          },
        },
      ],
    },
  };
}

/** Returns the YAML of a kind's CRD, as in crds/. */
export function crdYaml(definition: KindDefinition): string {
  // Kubernetes reads YAML 1.1, where a plain off is a boolean.
  return stringify(crd(definition), { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' });
}
