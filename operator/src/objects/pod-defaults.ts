/**
 * Defaults for the pods of all GatewayProjects of a fleet (`--pod-defaults`): a patch of their template, which a
 * project's own settings override. They are the operator's own settings: the limits of projects do not apply to them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '@gw/gateway/artifact';
import { podsSchema } from '../api/gateway-pods.ts';
import type { GatewayProject } from '../api/resources.ts';
import { isRecord } from '../kube/kube-object.ts';
import { type Patched, patchTemplate } from './template-patch.ts';

/** Fields of a pod that a project has under the same name. */
const SAME_NAME = [
  'affinity',
  'imagePullSecrets',
  'nodeSelector',
  'priorityClassName',
  'tolerations',
  'topologySpreadConstraints',
] as const;

/** `template`: as the operator makes it of the project, without its own patch. */
export function withPodDefaults(template: JsonObject, defaults: JsonObject, project: GatewayProject): Patched {
  return patchTemplate(template, unsaid(defaults, project.spec.pods));
}

/** Returns the patch without the fields that the project sets itself. */
function unsaid(defaults: JsonObject, pods: GatewayProject['spec']['pods']): JsonObject {
  const { metadata, spec, ...rest } = defaults;
  return {
    ...rest,
    ...(isObject(metadata)
      ? {
          metadata: {
            ...metadata,
            ...(isObject(metadata['labels']) ? { labels: without(metadata['labels'], pods.labels) } : {}),
            ...(isObject(metadata['annotations'])
              ? { annotations: without(metadata['annotations'], pods.annotations) }
              : {}),
          },
        }
      : {}),
    ...(isObject(spec) ? { spec: unsaidOfSpec(spec, pods) } : {}),
  };
}

function unsaidOfSpec(spec: JsonObject, pods: GatewayProject['spec']['pods']): JsonObject {
  const said = new Set<string>(SAME_NAME.filter((name) => pods[name] !== undefined));
  const left = Object.fromEntries(Object.entries(spec).filter(([name]) => !said.has(name)));
  const { containers } = left;
  // The API server fills in the default: an equal value counts as not set.
  const ownResources = !isDeepStrictEqual(pods.resources, podsSchema.properties.resources.default);
  if (!Array.isArray(containers) || !ownResources) return left;
  return {
    ...left,
    containers: containers.map((each: Json) => {
      if (!isObject(each) || each['name'] !== 'gateway') return each;
      const { resources: _, ...others } = each;
      return others;
    }),
  };
}

function without(map: JsonObject, said: { readonly [name: string]: string } = {}): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([name]) => !Object.hasOwn(said, name)));
}

function isObject(value: Json | undefined): value is JsonObject {
  return isRecord(value);
}
