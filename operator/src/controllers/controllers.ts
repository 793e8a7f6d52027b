/**
 * The wiring of controllers for cluster and local mode: the kinds that each watches, and the keys that a change queues.
 */
import {
  apiSpecs,
  configMaps,
  deployments,
  endpointSlices,
  gatewayProjects,
  namespaces,
  pluginRefs,
  pods,
  secrets,
  workloads,
} from '../api/resources.ts';
import type { KubeObject, ObjectKey, Resource } from '../kube/kube-object.ts';
import { LABEL_PROJECT } from '../objects/names.ts';
import { optionalResources, ownedResources } from '../objects/owned.ts';
import type { Change } from '../runtime/objects.ts';
import type { SourceOwner } from '../sources/source.ts';
import { reconcileApiSpec } from './api-spec/reconcile.ts';
import { reconcileDeployment } from './deployment/reconcile.ts';
import {
  changesDocument,
  configMapReaders,
  type EventMapper,
  foreignProjectsOf,
  foreignUsersIn,
  moreThanStatus,
  projectsOfConfigMap,
  projectsOfSource,
  projectsOfSpec,
  specsOfProject,
} from './event-mappers.ts';
import { ProvenanceMemory } from './gateway-project/pods/provenance-memory.ts';
import { type GatewayProjectWith, reconcileGatewayProject } from './gateway-project/reconcile.ts';
import { reconcilePluginRef } from './plugin-ref/reconcile.ts';
import { rememberingPods, resynced } from './resync.ts';

export interface Trigger {
  readonly resource: Resource<KubeObject>;
  readonly metadataOnly?: boolean;
  /** Watches only objects with the label of a project. */
  readonly ownedOnly?: boolean;
  /** The kind belongs to an API that the cluster may lack. */
  readonly optional?: boolean;
  /**
   * The keys to reconcile: of the object itself, of the project that its label names, of those whom it concerns, or
   * of all objects of the kind in its namespace.
   */
  readonly calls: 'self' | 'project' | 'namespace' | EventMapper;
  /** Leaves out changes that cannot matter. */
  readonly when?: (change: Change) => boolean;
}

export interface Controller {
  readonly name: string;
  readonly resource: Resource<KubeObject>;
  readonly triggers: readonly Trigger[];
  /** Called once with a function that queues keys for other reasons than changes of objects. */
  readonly onStart?: (call: (keys: readonly ObjectKey[]) => void) => void;
  /** Milliseconds after which to reconcile again. */
  reconcile(key: ObjectKey): Promise<number | undefined>;
}

export interface ControllerOptions extends GatewayProjectWith {
  /** Whether Secrets can be watched; else their content is read again at every resync. */
  readonly watchSecrets: boolean;
}

const keyOfOwner = ({ namespace, name }: SourceOwner): ObjectKey => ({ namespace, name });

const notOurs = ({ object }: Change) => object.metadata.labels?.[LABEL_PROJECT] === undefined;

/** Returns the controllers of the four kinds. */
export function controllers(deps: ControllerOptions): readonly Controller[] {
  const { objects, events, sources, foreignUses } = deps;
  const provenance = new ProvenanceMemory(deps.probe);
  const inConfigMaps = (calls: EventMapper): Trigger => ({
    resource: configMaps,
    metadataOnly: true,
    calls,
    when: notOurs,
  });
  const inSecrets: readonly Trigger[] = deps.watchSecrets
    ? [{ resource: secrets, metadataOnly: true, calls: 'namespace', when: notOurs }]
    : [];
  return [
    {
      name: 'gatewayproject',
      resource: gatewayProjects,
      triggers: [
        { resource: gatewayProjects, calls: 'self' },
        { resource: apiSpecs, calls: projectsOfSpec(objects), when: changesDocument },
        // Includes the status, which reports a package whose content nobody else watches.
        { resource: pluginRefs, calls: 'namespace' },
        { resource: pluginRefs, calls: foreignProjectsOf(foreignUses) },
        ...(deps.namespaces.labels
          ? [{ resource: namespaces, metadataOnly: true, calls: foreignUsersIn(foreignUses) } as const]
          : []),
        { resource: deployments, calls: 'namespace', when: moreThanStatus },
        inConfigMaps(projectsOfConfigMap(objects)),
        ...inSecrets,
        { resource: configMaps, metadataOnly: true, calls: 'project' },
        { resource: pods, ownedOnly: true, calls: 'project' },
        // They carry the labels of their Service.
        { resource: endpointSlices, ownedOnly: true, calls: 'project' },
        ...ownedResources.map(
          (resource) =>
            ({
              resource,
              metadataOnly: resource !== workloads,
              ownedOnly: true,
              optional: optionalResources.has(resource),
              calls: 'project',
            }) as const,
        ),
      ],
      onStart: (call) => {
        sources.onChange((owner) => {
          // Both use watched objects: should one fail all the same, the next resync makes up for it.
          projectsOfSource(objects, foreignUses, owner).then(call, () => undefined);
        });
        deps.controlPlanes?.onChange((key) => call([key]));
        deps.link?.onStart(call);
        deps.census?.onChange(call);
        deps.updatePace?.onStart(call);
      },
      reconcile: (key) =>
        resynced(deps, gatewayProjects, key, (tracked) =>
          rememberingPods(tracked, provenance, key, (remembering) => reconcileGatewayProject(remembering, key)),
        ),
    },
    {
      name: 'apispec',
      resource: apiSpecs,
      triggers: [
        { resource: apiSpecs, calls: 'self' },
        { resource: gatewayProjects, calls: specsOfProject(objects) },
        inConfigMaps(configMapReaders(objects, apiSpecs)),
      ],
      onStart: (call) => sources.onChange((owner) => owner.kind === 'ApiSpec' && call([keyOfOwner(owner)])),
      reconcile: (key) => resynced(deps, apiSpecs, key, (tracked) => reconcileApiSpec(tracked, key)),
    },
    {
      name: 'pluginref',
      resource: pluginRefs,
      triggers: [
        { resource: pluginRefs, calls: 'self' },
        inConfigMaps(configMapReaders(objects, pluginRefs)),
        ...inSecrets,
      ],
      onStart: (call) => sources.onChange((owner) => owner.kind === 'PluginRef' && call([keyOfOwner(owner)])),
      reconcile: (key) => resynced(deps, pluginRefs, key, (tracked) => reconcilePluginRef(tracked, key)),
    },
    {
      name: 'deployment',
      resource: deployments,
      triggers: [
        { resource: deployments, calls: 'namespace', when: moreThanStatus },
        { resource: gatewayProjects, calls: 'namespace' },
      ],
      reconcile: (key) =>
        resynced(deps, deployments, key, (tracked) => reconcileDeployment(tracked.objects, events, key)),
    },
  ];
}
