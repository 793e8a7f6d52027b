/** Every operation of the REST API by its id: one line a resource. */
import type { OperationTable } from '../api/operation.ts';
import { apiKeyOperations } from './api-keys/operations.ts';
import { artifactOperations } from './artifacts/operations.ts';
import { auditOperations } from './audit/operations.ts';
import { compilationOperations } from './compilations/operations.ts';
import { dataPlaneOperations } from './data-planes/operations.ts';
import { deploymentOperations } from './deployments/operations.ts';
import { pluginOperations } from './plugins/operations.ts';
import { projectPluginOperations } from './project-plugins/operations.ts';
import { projectOperations } from './projects/operations.ts';
import { specOperations } from './specs/operations.ts';
import { systemOperations } from './system/operations.ts';
import { tokenOperations } from './tokens/operations.ts';

export const OPERATIONS = {
  ...systemOperations,
  ...projectOperations,
  ...specOperations,
  ...apiKeyOperations,
  ...tokenOperations,
  ...auditOperations,
  ...compilationOperations,
  ...artifactOperations,
  ...dataPlaneOperations,
  ...deploymentOperations,
  ...pluginOperations,
  ...projectPluginOperations,
} satisfies OperationTable;

export type Operations = typeof OPERATIONS;
export type OperationId = keyof Operations;
