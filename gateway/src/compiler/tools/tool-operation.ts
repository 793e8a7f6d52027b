/** An operation as the source of a tool. */
import type { Operation } from '../../artifact/format.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';

export interface RoutedOperation {
  readonly declared: DeclaredOperation;
  /** As the artifact has it. */
  readonly operation: Operation;
  /** Lower-case headers that carry credentials: those of the MCP request are passed on, and no model gives them. */
  readonly credentials: readonly string[];
}
