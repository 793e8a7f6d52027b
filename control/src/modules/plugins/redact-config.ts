/** Configs without their secrets: for the audit log, and for who may only look. */
import type { ProjectPlugin } from '@gw/gateway/compiler';
import { isReference, marksOf, replaceMarked } from '@gw/gateway/plugin-config';
import { hideCredentials } from '@gw/gateway/spec';

type Config = NonNullable<ProjectPlugin['config']>;

/** What stands where a secret was. */
export const REDACTED = '[redacted]';

/**
 * Whatever the plugin's schema marks `writeOnly` is replaced; references to secrets stay, since they give nothing
 * away. A plugin without a schema says of nothing that it is secret.
 */
export function redactConfig(config: Config, schema: ProjectPlugin['configSchema'] | null): Config {
  if (!schema) return hideCredentials(config);
  const { secrets } = marksOf(schema);
  if (secrets.includes('')) return {};
  return replaceMarked(hideCredentials(config), secrets, (value) => (isReference(value) ? value : REDACTED));
}
