/**
 * `capabilities` of a registration, in place of plugin.toml (docs/decisions.md#plugin-declarations). Undeclared
 * capabilities are not granted (docs/decisions.md#undeclared-gets-nothing).
 */
import { type PluginManifest, PluginPackageError } from '@gw/gateway/compiler';
import { messageOf } from '@gw/gateway/message-of';
import type { Bodies } from '@gw/gateway/plugin-check';
import { manifestFrom } from '@gw/gateway/plugin-config';
import { ControlError } from '../../errors.ts';
import { checkStorable } from '../../http/storable.ts';
import type { PluginInput } from './schemas.ts';

const OF_PLUGIN = ['authenticates', 'authorizes', 'inspects', 'preflight', 'request_headers'] as const;
const OF_CAPABILITIES = ['host_functions', 'request_body', 'response_body', 'cpu_ms'] as const;
const KNOWN: ReadonlySet<string> = new Set([...OF_PLUGIN, ...OF_CAPABILITIES]);

type Given = Readonly<Record<string, unknown>>;

/** Parses the form's text: an array of host functions, which cannot declare `bodies`, or an object. Throws 422. */
export function readCapabilities(text: string | undefined, bodies: Bodies): Given {
  if (text === undefined) return {};
  const given = readJson(text, 'capabilities');
  if (Array.isArray(given)) return { host_functions: given, ...bodies };
  if (typeof given !== 'object' || given === null) {
    throw fieldFault('capabilities', 'must be an array of host functions, or an object');
  }
  const unknown = Object.keys(given).find((name) => !KNOWN.has(name));
  if (unknown === undefined) return { ...given };
  throw fieldFault('capabilities', `has an unknown property "${unknown}" (known: ${[...KNOWN].join(', ')})`);
}

/** Throws 422, with the name of the field that is wrong. */
export function manifestOf({ name, version, type, description }: PluginInput, given: Given): PluginManifest {
  const of = (names: readonly string[]) =>
    Object.fromEntries(Object.entries(given).filter(([each]) => names.includes(each)));
  const about = { name, version, type, ...(description ? { description } : {}) };
  try {
    return manifestFrom({
      plugin: { ...of(OF_PLUGIN), ...about },
      capabilities: of(OF_CAPABILITIES),
    });
  } catch (error) {
    if (!(error instanceof PluginPackageError)) throw error;
    throw fieldFault('capabilities', error.message.replace(/^plugin\.toml:? /, ''));
  }
}

/** Parses the JSON of a form's field. Throws 422. */
export function readJson(text: string, field: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fieldFault(field, `is not JSON: ${messageOf(error)}`);
  }
  checkStorable(value, `the form field "${field}"`);
  return value;
}

export function fieldFault(field: string, message: string): ControlError {
  const errors = [{ pointer: `/${field}`, message }];
  return new ControlError('plugin-invalid', `the form field "${field}" ${message}`, { errors });
}
