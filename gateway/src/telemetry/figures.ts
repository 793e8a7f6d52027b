/** Figures that other parts count themselves, and metrics show. */

/** Figures of a state server. */
export interface StateFigures {
  readonly away: boolean;
  /** Questions without an answer. */
  readonly failures: number;
}

/** Figures of plugin instances. */
export interface PluginFigures {
  /** Existing instances, with idle ones. */
  readonly instances: number;
  /** Instances that run a call, or wait in one. */
  readonly busy: number;
  /** Calls that wait for an instance. */
  readonly waiting: number;
}

/** Figures of an MCP upstream. */
export interface McpUpstreamFigures {
  readonly upstream: string;
  readonly offered: number;
  /** Tools that are allowed, but not offered. */
  readonly held: number;
}
