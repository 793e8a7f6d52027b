/**
 * Fields that name other objects, for Kustomize: it changes names (prefixes, suffixes, hashes of generated ConfigMaps
 * and Secrets) and must know every field that has to change with them. A test compares this with the schemas.
 */
import { stringify } from 'yaml';
import { GROUP } from '../api/schema.ts';

/** An entry of Kustomize's nameReference: fields that name objects of this kind. */
interface NameReference {
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly fieldSpecs: readonly Place[];
}

interface Place {
  readonly path: string;
  readonly kind: string;
  readonly group?: string;
}

const places = (kind: string, ...paths: readonly string[]): readonly Place[] =>
  paths.map((path) => ({ path, group: GROUP, kind }));

const annotation = (name: string) => `metadata/annotations/${GROUP}\\/${name}`;

/** Kinds whose pods may ask for a sidecar. */
const WORKLOADS: readonly (readonly [kind: string, group: string, template: string])[] = [
  ['Deployment', 'apps', 'spec/template/'],
  ['StatefulSet', 'apps', 'spec/template/'],
  ['DaemonSet', 'apps', 'spec/template/'],
  ['Job', 'batch', 'spec/template/'],
  ['CronJob', 'batch', 'spec/jobTemplate/spec/template/'],
];

/** Fields that users may write in a patch of the pods' template. */
const TEMPLATE = 'spec/pods/template/spec';

const NAME_REFERENCES: readonly NameReference[] = [
  { kind: 'ApiSpec', group: GROUP, fieldSpecs: places('GatewayProject', 'spec/specs/names') },
  { kind: 'PluginRef', group: GROUP, fieldSpecs: places('GatewayProject', 'spec/plugins/pluginRef') },
  {
    kind: 'GatewayProject',
    group: GROUP,
    fieldSpecs: [
      ...places('Deployment', 'spec/project'),
      { path: annotation('projects'), kind: 'Secret' },
      { path: annotation('project'), kind: 'Namespace' },
      { path: annotation('project'), kind: 'Pod' },
      ...WORKLOADS.map(([kind, group, template]) => ({ path: `${template}${annotation('project')}`, group, kind })),
    ],
  },
  {
    kind: 'ConfigMap',
    version: 'v1',
    fieldSpecs: [
      ...places('ApiSpec', 'spec/source/configMap/name', 'spec/source/configMap/more'),
      ...places('PluginRef', 'spec/source/configMap/name'),
      ...places(
        'GatewayProject',
        `${TEMPLATE}/volumes/configMap/name`,
        `${TEMPLATE}/volumes/projected/sources/configMap/name`,
        `${TEMPLATE}/containers/env/valueFrom/configMapKeyRef/name`,
        `${TEMPLATE}/containers/envFrom/configMapRef/name`,
      ),
    ],
  },
  {
    kind: 'Secret',
    version: 'v1',
    fieldSpecs: [
      ...places('ApiSpec', 'spec/source/oci/pullSecret', 'spec/source/url/authorization/name'),
      ...places(
        'PluginRef',
        'spec/source/secret/name',
        'spec/source/oci/pullSecret',
        'spec/source/url/authorization/name',
        'spec/verify/keySecret/name',
      ),
      ...places(
        'GatewayProject',
        'spec/signing/keySecret/name',
        'spec/signing/trustedKeySecrets/name',
        'spec/storage/oci/pushSecret',
        'spec/storage/oci/pullSecret',
        'spec/pods/imagePullSecrets',
        'spec/secrets/env',
        'spec/secrets/directory',
        'spec/secrets/template',
        'spec/exposure/ingress/tlsSecret',
        'spec/tls/secret',
        'spec/tls/clientCaSecret',
        'spec/serve/state/url/secret',
        'spec/controlPlane/secret',
        `${TEMPLATE}/volumes/secret/secretName`,
        `${TEMPLATE}/volumes/projected/sources/secret/name`,
        `${TEMPLATE}/containers/env/valueFrom/secretKeyRef/name`,
        `${TEMPLATE}/containers/envFrom/secretRef/name`,
      ),
    ],
  },
  {
    kind: 'PriorityClass',
    group: 'scheduling.k8s.io',
    fieldSpecs: places('GatewayProject', 'spec/pods/priorityClassName'),
  },
];

/** All places in our kinds, as `KIND path`. */
export const namedPlaces: ReadonlySet<string> = new Set(
  NAME_REFERENCES.flatMap(({ fieldSpecs }) =>
    fieldSpecs.filter(({ group }) => group === GROUP).map(({ kind, path }) => `${kind} ${path}`),
  ),
);

/** Returns the transformer configuration, and the component that includes it. */
export function kustomizeFiles(): readonly { readonly name: string; readonly content: string }[] {
  return [
    {
      name: 'kustomization.yaml',
      content: stringify({
        apiVersion: 'kustomize.config.k8s.io/v1alpha1',
        kind: 'Component',
        configurations: ['name-references.yaml'],
      }),
    },
    { name: 'name-references.yaml', content: stringify({ nameReference: NAME_REFERENCES }, { lineWidth: 0 }) },
  ];
}
