/**
 * `mcp.upstreams` of a project (docs/mcp.md#upstreams): MCP servers whose tools are offered beside those of the
 * documents. Invalid settings are E1044.
 */
import { sortedMembers } from '../../artifact/canonical-json.ts';
import type { JsonObject, Operation } from '../../artifact/format.ts';
import type { McpUpstream } from '../../artifact/tools.ts';
import { isFieldValue } from '../../headers/field-syntax.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { isObject, kindOf, type Obj } from '../../spec/json.ts';
import { isToken, transportHeaders } from '../../wasm/host/header-rules.ts';
import { type ConfigValidator, configValidator, isReference } from '../plugins/config-schema.ts';
import { manifestPlace } from '../project/manifest-place.ts';
import {
  type McpSettings,
  type McpUpstreamSettings,
  mcpSchema,
  mcpUpstreamName,
  mcpUpstreamSchema,
} from '../project/mcp-upstream-schema.ts';
import type { Project } from '../project/project.ts';

/** Headers that every request to the upstream has of its own, or that the transport decides. */
const OWN_HEADERS = /^(mcp-.*|accept|content-type|content-encoding|traceparent|tracestate|gw-hops)$/;
/** Names of headers and parameters that hold credentials, as far as names tell. */
const CREDENTIAL = /auth|key|token|secret|cookie|password|credential|signature/i;

interface Deps {
  readonly project: Project;
  readonly operations: readonly Operation[];
  readonly diagnostics: Diagnostics;
}

/**
 * Returns faults of the settings alone, for servers that refuse uncompilable settings early: also credentials in plain
 * text, which everyone with access to the project would see.
 */
export function mcpFaults({
  upstreams = {},
}: McpSettings): readonly { readonly name: string; readonly message: string }[] {
  return Object.entries(upstreams).flatMap(([name, given]) => {
    const faults: string[] = [];
    const settings = settingsOf(name, given, faults);
    if (settings !== null) faults.push(...faultsOf(settings), ...plainCredentials(settings));
    return faults.map((message) => ({ name, message }));
  });
}

function plainCredentials(settings: McpUpstreamSettings): string[] {
  return [
    ...credentialsOf(settings).flatMap(([header, value]) => (isReference(value) ? [] : [`header "${header}"`])),
    ...credentialsInUrl(settings).map((name) => `"${name}" in the query of "url"`),
  ].map((what) => `${what} is a credential in plain text: send it in "headers", by reference (env:// or file://)`);
}

/** Most upstreams of a project; more would be listed and refreshed without end. */
const { maxProperties: MOST_UPSTREAMS } = mcpSchema.properties.upstreams;
const { properties } = mcpUpstreamSchema;
/** The schema refuses unknown members, and states its patterns in words. */
const SCHEMA = {
  ...mcpUpstreamSchema,
  additionalProperties: false,
  properties: {
    ...properties,
    prefix: { ...properties.prefix, 'x-gw-expects': 'letters, digits, _, . and -' },
    allow: {
      ...properties.allow,
      items: { ...properties.allow.items, 'x-gw-expects': 'the name of a tool, in which * stands for any characters' },
    },
    pin: {
      ...properties.pin,
      additionalProperties: {
        ...properties.pin.additionalProperties,
        'x-gw-expects': 'a digest, as `gw mcp pin` prints them',
      },
    },
  },
};
let validator: ConfigValidator | undefined;

/** Returns upstreams by name; unusable ones are left out, with a diagnostic. */
export function mcpUpstreamsOf(mcp: unknown, deps: Deps): readonly McpUpstream[] {
  const { diagnostics } = deps;
  if (mcp === undefined) return [];
  const refused = (message: string): readonly McpUpstream[] => {
    diagnostics.add('E1044', manifestPlace(deps.project, ['mcp']), message);
    return [];
  };
  if (!isObject(mcp)) return refused(`"mcp" is ${kindOf(mcp)}: it must be an object`);
  const other = Object.keys(mcp).find((name) => name !== 'upstreams');
  if (other !== undefined) return refused(`"mcp" has no property "${other}" (known: upstreams)`);
  const { upstreams = {} } = mcp;
  if (!isObject(upstreams)) return refused(`"mcp.upstreams" is ${kindOf(upstreams)}: it must be an object`);
  const names = Object.keys(upstreams).sort();
  if (names.length > MOST_UPSTREAMS) return refused(`"mcp.upstreams" has more than ${MOST_UPSTREAMS} members`);
  return names.flatMap((name) => upstreamOf(name, upstreams[name], deps));
}

function upstreamOf(name: string, found: unknown, deps: Deps): readonly McpUpstream[] {
  const faults: string[] = [];
  const settings = settingsOf(name, found, faults);
  if (settings !== null) faults.push(...faultsOf(settings));
  const authorize = settings && operationOf(settings.authorize, deps.operations, faults);
  const place = manifestPlace(deps.project, ['mcp', 'upstreams', name]);
  for (const fault of faults) deps.diagnostics.add('E1044', place, `MCP upstream "${name}": ${fault}`);
  if (settings === null || faults.length > 0) return [];
  warn(name, settings, deps);
  const { authorize: _, ...given } = settings;
  // A list of tools shows that its author has reviewed the server.
  const others = given.allow === undefined && given.pin === undefined ? ['*'] : [];
  const defaults = {
    prefix: `${name.replaceAll('-', '_')}_`,
    timeout: 60,
    refresh: 60,
    prompts: others,
    resources: others,
  };
  const upstream: McpUpstream = {
    name,
    ...defaults,
    ...given,
    ...(typeof authorize === 'number' ? { authorize } : {}),
  };
  // Doors keep no order of members (docs/decisions.md#one-project).
  return [sortedMembers(upstream as unknown as JsonObject) as unknown as McpUpstream];
}

function settingsOf(name: string, given: unknown, faults: string[]): McpUpstreamSettings | null {
  if (!mcpUpstreamName.test(name)) faults.push('its name must be in kebab-case, of at most 40 characters');
  if (!isObject(given)) {
    faults.push(`it is ${kindOf(given)}: it must be an object such as {url: https://tools.example.com/mcp}`);
    return null;
  }
  validator ??= configValidator(SCHEMA as unknown as JsonObject);
  const { errors } = validator(given as JsonObject);
  faults.push(...errors.map(({ message }) => message));
  return errors.length > 0 ? null : (given as Obj as unknown as McpUpstreamSettings);
}

function faultsOf({ url, headers = {}, forward_authorization: forwards }: McpUpstreamSettings): string[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const own = names.find((name) => OWN_HEADERS.test(name) || transportHeaders.has(name));
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  const unsendable = Object.entries(headers).find(
    ([name, value]) => !isToken(name.toLowerCase()) || !isFieldValue(value),
  );
  return [
    ...urlFaults(url),
    ...(unsendable === undefined ? [] : [`header "${unsendable[0]}" has characters that headers cannot have`]),
    ...(own === undefined ? [] : [`header "${own}" is the gateway's own`]),
    ...(repeated === undefined ? [] : [`header "${repeated}" is given twice`]),
    ...(forwards === true && names.includes('authorization')
      ? ['"forward_authorization" sends the Authorization of who calls, and "headers" names another: keep one']
      : []),
  ];
}

function urlFaults(text: string): string[] {
  if (!URL.canParse(text)) return ['"url" must be a full URL, such as https://tools.example.com/mcp'];
  const { protocol, username, password, hash } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return ['"url" must begin with https://'];
  if (username !== '' || password !== '') return ['"url" holds credentials: send them in "headers", by reference'];
  return hash === '' ? [] : ['"url" has a fragment, which is never sent'];
}

/** The operation that is asked before each call; its index. */
function operationOf(id: string | undefined, operations: readonly Operation[], faults: string[]): number | undefined {
  if (id === undefined) return undefined;
  const found = operations.filter(({ operation_id }) => operation_id === id);
  const [operation] = found;
  if (operation === undefined || found.length > 1) {
    faults.push(`"authorize" names ${found.length === 0 ? 'no' : 'more than one'} operation with operationId "${id}"`);
    return undefined;
  }
  if (operation.method === 'HEAD' || operation.path.includes('{')) {
    faults.push(
      `"authorize" names ${operation.method} ${operation.path}: name one with a body and a path that is fixed`,
    );
  }
  return operation.index;
}

function warn(name: string, settings: McpUpstreamSettings, { project, diagnostics }: Deps): void {
  const { flags } = project;
  const placeOf = (...keys: string[]) => manifestPlace(project, ['mcp', 'upstreams', name, ...keys]);
  const { url, forward_authorization: forwards, authorize } = settings;
  if (/^http:/i.test(url) && (flags.production || !flags.allowPlaintext)) {
    const hint = flags.production ? 'Use https://: production builds allow no plaintext upstreams.' : undefined;
    diagnostics.add('E1031', placeOf('url'), `MCP upstream "${name}", ${new URL(url).origin}, is plaintext`, hint);
  }
  const credentials = credentialsOf(settings);
  for (const [header, value] of credentials) {
    if (isReference(value)) continue;
    diagnostics.add(
      'E1070',
      placeOf('headers', header),
      `header "${header}" of MCP upstream "${name}" is a secret in plain text`,
    );
  }
  for (const parameter of credentialsInUrl(settings)) {
    const hint = 'Send it in "headers", by reference.';
    diagnostics.add(
      'E1070',
      placeOf('url'),
      `"${parameter}" in the URL of MCP upstream "${name}" is a secret in plain text`,
      hint,
    );
  }
  if (credentials.length > 0 && authorize === undefined && forwards !== true) {
    diagnostics.add(
      'E1045',
      placeOf(),
      `MCP upstream "${name}" is called with a credential of the gateway for every client`,
    );
  }
}

function credentialsOf({ headers = {} }: McpUpstreamSettings): readonly (readonly [string, string])[] {
  return Object.entries(headers).filter(([header]) => CREDENTIAL.test(header));
}

function credentialsInUrl({ url }: McpUpstreamSettings): readonly string[] {
  return URL.canParse(url) ? [...new URL(url).searchParams.keys()].filter((name) => CREDENTIAL.test(name)) : [];
}
