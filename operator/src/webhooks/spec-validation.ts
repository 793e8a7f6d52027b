/**
 * Faults of an object by itself that its schema cannot express (docs/decisions.md#webhooks-refuse-alone): reasons to
 * refuse it.
 */

import { mcpFaults } from '@gw/gateway/compiler';
import { EgressGuard } from '@gw/gateway/egress';
import { messageOf } from '@gw/gateway/message-of';
import { CREDENTIALS_HINT, credentialPlaces } from '@gw/gateway/spec';
import type { Revision } from '../api/gateway-project.ts';
import type { Deployment, GatewayProject, PluginRef } from '../api/resources.ts';
import type { LabelSelector } from '../api/shared.ts';
import { addressFault } from '../controllers/gateway-project/control-plane/observe.ts';
import type { PluginCatalog } from '../controllers/plugin-ref/plugin-package.ts';
import type { PodPolicy } from '../objects/pod-policy.ts';
import { podRefusal } from '../objects/pod-template.ts';
import { parseKeys } from '../sources/signature.ts';

/** `deps`: limits of its pods. */
export function projectFaults(
  project: GatewayProject,
  deps: { readonly image: string; readonly policy?: PodPolicy },
): readonly string[] {
  const { spec } = project;
  const names = (spec.plugins ?? []).map(({ name }) => name);
  return [
    ...fault(
      'spec.egress.allow',
      () => void new EgressGuard({ allowInternal: false, allow: spec.egress?.allow ?? [] }),
    ),
    ...Object.entries(spec.upstreams ?? {}).flatMap(([name, { url }]) => upstreamFault(name, url)),
    ...(spec.plugins ?? []).flatMap(({ name, config }) =>
      credentialFaults(`spec.plugins[name=${name}].config`, config),
    ),
    ...mcpFaults(spec.mcp ?? {}).map(({ name, message }) => `spec.mcp.upstreams.${name}: ${message}`),
    ...selectorFaults('spec.specs.selector', spec.specs.selector),
    ...selectorFaults('spec.pluginSelector', spec.pluginSelector),
    ...selectorFaults('spec.sidecar.allowedNamespaces.selector', spec.sidecar.allowedNamespaces?.selector),
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `spec.plugins: "${name}" is listed twice`),
    ...podsFault(project, deps),
    ...controlPlaneFault(spec),
  ];
}

export async function pluginRefFaults(
  { metadata, spec }: PluginRef,
  catalog: PluginCatalog,
): Promise<readonly string[]> {
  const keys = (spec.verify?.keys ?? []).flatMap((key, index) =>
    fault(`spec.verify.keys[${index}]`, () => void parseKeys(key, `spec.verify.keys[${index}]`)),
  );
  const selectors = [
    ...selectorFaults('spec.allowedNamespaces.selector', spec.allowedNamespaces?.selector),
    ...credentialFaults('spec.defaultConfig', spec.defaultConfig),
  ];
  if (!spec.source.builtin) return [...keys, ...selectors];
  const name = spec.source.builtin.name ?? spec.plugin;
  // Existing objects without either keep working. The object's own name is not used, since tools such as Kustomize
  // change it.
  if (name === undefined)
    return [...keys, ...selectors, `spec.source.builtin.name: name the plugin, such as "${metadata.name}"`];
  const plugin = await catalog.builtin(name);
  const there = plugin?.manifest?.version;
  return [
    ...keys,
    ...selectors,
    ...(plugin ? [] : [`spec.source.builtin: "${name}" is not a plugin that comes with gw`]),
    ...(plugin && spec.version !== undefined && spec.version !== there
      ? [`spec.version: the built-in "${name}" has version ${there ?? '(none)'}`]
      : []),
    ...(spec.verify ? ['spec.verify: a built-in plugin has no signature; it comes with the image'] : []),
  ];
}

/** Returns faults of a Deployment, which records an action on one project. */
export function deploymentFaults(next: Deployment, before: Deployment | undefined): readonly string[] {
  if (!before || before.spec.project === next.spec.project) return [];
  return [`spec.project cannot change (it is "${before.spec.project}"): create another Deployment`];
}

function fault(field: string, check: () => void): readonly string[] {
  try {
    check();
    return [];
  } catch (error) {
    const message = messageOf(error).replace(/^--[a-z-]+: /, '');
    return [message.startsWith(field) ? message : `${field}: ${message}`];
  }
}

function upstreamFault(name: string, text: string): readonly string[] {
  const url = URL.parse(text);
  const at = `spec.upstreams.${name}.url`;
  if (!url || url.host === '' || !/^(https?|wss?):$/.test(url.protocol))
    return [`${at}: write scheme and host, as in https://api.example`];
  return credentialFaults(at, text);
}

function credentialFaults(field: string, value: unknown): readonly string[] {
  return credentialPlaces(value).map(({ pointer, message }) => `${field}${pointer}: ${message}. ${CREDENTIALS_HINT}`);
}

function selectorFaults(field: string, selector: LabelSelector | undefined): readonly string[] {
  return (selector?.matchExpressions ?? []).flatMap(({ operator, values = [] }, index) => {
    const needs = operator === 'In' || operator === 'NotIn';
    if (needs === values.length > 0) return [];
    return [
      `${field}.matchExpressions[${index}]: ${operator} ${needs ? 'requires at least one of' : 'does not allow'} values`,
    ];
  });
}

/** Any revision: faults do not depend on it. */
const REVISION: Revision = { revision: 1, artifactHash: '', archive: '', createdAt: '', parts: 1 };

function podsFault(
  project: GatewayProject,
  { image, policy }: { readonly image: string; readonly policy?: PodPolicy },
): readonly string[] {
  const inRegistry =
    project.spec.storage.type === 'OCI' ? { image: `registry.invalid/artifact@sha256:${'0'.repeat(64)}` } : {};
  const refusal = podRefusal(
    project,
    { ...REVISION, ...inRegistry },
    { image, trustedKeys: [], ...(policy ? { policy } : {}) },
  );
  return refusal === undefined ? [] : [refusal];
}

/**
 * Returns the fault of a control plane's address. The status reports whether it may be connected to, which may change.
 */
function controlPlaneFault({ controlPlane, allowPlaintext }: GatewayProject['spec']): readonly string[] {
  if (!controlPlane) return [];
  const fault = addressFault(controlPlane.url, allowPlaintext, { names: () => true });
  return fault === undefined ? [] : [`spec.controlPlane.url: ${fault}`];
}
