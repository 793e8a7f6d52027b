/** Settings of `graphql` (docs/reference/plugins.md#graphql), read once from its config. */

import { get, isObject, type JsonObject } from '../../kit.ts';
import type { CostSettings, FieldCost } from './cost.ts';
import type { TextLimits } from './document.ts';
import type { OperationRules } from './operation-check.ts';
import { PersistedDocuments } from './persisted-documents.ts';

/** The config cannot be used; stops the load (exit 1). Names the property. */
export class GraphQLSettingsError extends Error {}

export interface GraphQLSettings extends TextLimits, OperationRules {
  readonly maxBodyBytes: number;
  /** Operations of a request that is a list; 0: lists are refused. */
  readonly maxBatch: number;
  readonly persisted: PersistedDocuments;
}

/** The plugin's schema has checked types and filled in defaults. */
export function readGraphQLSettings(config: JsonObject): GraphQLSettings {
  const { operations, introspection, cost, persisted_documents: persisted } = config;
  return {
    maxDocumentBytes: numberOf(config, 'max_document_bytes'),
    maxTokens: numberOf(config, 'max_tokens'),
    maxBodyBytes: numberOf(config, 'max_body_bytes'),
    maxBatch: numberOf(config, 'max_batch'),
    limits: {
      max_depth: numberOf(config, 'max_depth'),
      max_fields: numberOf(config, 'max_fields'),
      max_breadth: numberOf(config, 'max_breadth'),
      max_root_fields: numberOf(config, 'max_root_fields'),
      max_aliases: numberOf(config, 'max_aliases'),
      max_directives: numberOf(config, 'max_directives'),
    },
    operations: new Set(namesOf(operations)),
    introspection: introspection === true,
    cost: costOf(cost),
    persisted: new PersistedDocuments(get(persisted, 'documents'), get(persisted, 'only') === true),
  };
}

function costOf(config: unknown): CostSettings | null {
  if (!isObject(config)) return null;
  const otherwise = { cost: numberOf(config, 'default_cost'), listSize: numberOf(config, 'default_list_size') };
  const fields = get(config, 'fields');
  return {
    most: numberOf(config, 'max'),
    otherwise,
    fields: new Map(
      Object.entries(isObject(fields) ? fields : {}).map(([name, each]) => [name, fieldOf(each, otherwise)]),
    ),
    listArguments: new Set(namesOf(get(config, 'list_arguments'))),
  };
}

function fieldOf(config: unknown, { cost, listSize }: FieldCost): FieldCost {
  const [own, size] = [get(config, 'cost'), get(config, 'list_size')];
  return { cost: typeof own === 'number' ? own : cost, listSize: typeof size === 'number' ? size : listSize };
}

function numberOf(config: unknown, name: string): number {
  const value = get(config, name);
  if (typeof value !== 'number') throw new GraphQLSettingsError(`${name} must be a number`);
  return value;
}

function namesOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
