/** The one place that reads the environment of `gw-control` (docs/reference/control-plane.md#serve). */

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ControlEnvironment {
  /** GW_CONTROL_ADMIN_TOKEN; undefined or empty: the server refuses to start. */
  readonly adminToken: string | undefined;
  /** GW_CONTROL_ALLOWED_ORIGINS. */
  readonly allowedOrigins: readonly string[];
  /** RUST_LOG: overrides the level of the log (docs/decisions.md#precedence). */
  readonly logLevel: string | undefined;
}

export function readEnvironment(env: Environment): ControlEnvironment {
  return {
    adminToken: env['GW_CONTROL_ADMIN_TOKEN'] || undefined,
    allowedOrigins: (env['GW_CONTROL_ALLOWED_ORIGINS'] ?? '')
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ''),
    logLevel: env['RUST_LOG'] || undefined,
  };
}
