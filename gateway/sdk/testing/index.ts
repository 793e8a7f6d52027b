/**
 * `@gw/plugin-sdk/testing`: runs a plugin from its folder (plugin.toml, config-schema.json, module) on the gateway's own
 * runtime, without a gateway around it.
 *
 * @example
 * const kit = await testPlugin(import.meta.dirname);
 * const result = await kit.onRequest({ config: { quota: 1, window: 60 }, path: '/books' });
 * assert.equal(result.outcome, 'continue');
 * kit.close();
 */
import type { KitOptions, PluginKit } from './kit.ts';
import { openKit } from './runtime-kit.ts';

export {
  type ClientCertificate,
  type Json,
  type JsonObject,
  MemoryState,
  type State,
  StateUnavailable,
} from '@gw/gateway/plugin-test-options';
export { UnstubbedHttpCall } from './http-stubs.ts';
export type {
  Answered,
  BoundConfig,
  HeaderRecord,
  HookCall,
  HookRequest,
  HookResult,
  HttpStub,
  KitLimits,
  KitOptions,
  LogLine,
  PluginKit,
  RecordedHttpCall,
  RequestInit,
  ResponseRequest,
} from './kit.ts';

/**
 * Loads the plugin in `folder`. Rejects if a file is missing or not valid, and if the gateway would refuse the
 * module.
 */
export function testPlugin(folder: string, options: KitOptions = {}): Promise<PluginKit> {
  return openKit(folder, options);
}
