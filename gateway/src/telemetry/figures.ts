/** What other parts count themselves, and metrics show. */

/** What a state server tells of itself. */
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

/** What an MCP upstream offers. */
export interface McpUpstreamFigures {
  readonly upstream: string;
  readonly offered: number;
  /** Tools that are allowed, and not offered all the same. */
  readonly held: number;
}
