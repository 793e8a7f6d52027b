import type { Manifest, RoutesFile } from '../artifact/format.ts';
import type { ToolsFile } from '../artifact/tools.ts';
import type { DescribedStatuses } from './described-statuses.ts';

/** The parts of an artifact that `gw diff` compares. */
export interface ComparableParts {
  readonly manifest: Manifest;
  readonly routes: RoutesFile;
  /** Null if MCP is not enabled. */
  readonly tools: ToolsFile | null;
  /** Absent if unknown. */
  readonly statuses?: DescribedStatuses;
}
