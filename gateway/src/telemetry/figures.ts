/** What other parts count themselves, and metrics show. */

/** Figures of a state server. */
export interface StateFigures {
  readonly away: boolean;
  /** Questions without an answer. */
  readonly failures: number;
}

/** Of the instances of plugins. */
export interface PluginFigures {
  /** That exist, idle ones too. */
  readonly instances: number;
  /** That run a call, or wait in one. */
  readonly busy: number;
  /** Calls that wait for an instance. */
  readonly waiting: number;
}

/** Figures of an MCP upstream. */
export interface McpUpstreamFigures {
  readonly upstream: string;
  readonly offered: number;
  /** Tools that are allowed, and not offered all the same. */
  readonly held: number;
}
