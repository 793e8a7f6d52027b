import { describe, expect, expectTypeOf, it } from 'vitest';
import * as models from '../models/index.ts';
import type { ApiSpecSpec } from './api-spec.ts';
import type { DeploymentSpec } from './deployment.ts';
import type { GatewayProjectSpec } from './gateway-project.ts';
import { modelSource } from './model.ts';
import type { PluginRefSpec } from './plugin-ref.ts';
import { kinds } from './resources.ts';
import type { KindDefinition, Schema } from './schema.ts';

const definition = (spec: Schema): KindDefinition => ({
  ...{ kind: 'Thing', plural: 'things', singular: 'thing', shortNames: [], description: 'A thing.' },
  ...{ spec, status: {}, columns: [], validations: [] },
});

describe('models', () => {
  it('are there for every kind', () => {
    expect(Object.keys(models).sort()).toEqual(kinds.map(({ kind }) => kind).sort());
  });

  it('hold what the operator reads of a manifest, defaults and all', () => {
    expectTypeOf<GatewayProjectSpec>().toExtend<models.GatewayProjectSpec>();
    expectTypeOf<ApiSpecSpec>().toExtend<models.ApiSpecSpec>();
    expectTypeOf<PluginRefSpec>().toExtend<models.PluginRefSpec>();
    expectTypeOf<DeploymentSpec>().toExtend<models.DeploymentSpec>();
  });

  it('say what a field means, its default, and rules that types cannot say', () => {
    const source = modelSource(
      definition({
        type: 'object',
        required: ['name', 'size'],
        properties: {
          name: { type: 'string' },
          size: { type: 'integer', default: 3, description: 'How many */ there are.' },
          ports: { type: 'array', items: { 'x-kubernetes-int-or-string': true } },
          modes: { type: 'array', items: { enum: ['a', 'b'] } },
          limits: { type: 'object', default: {}, additionalProperties: { 'x-kubernetes-int-or-string': true } },
          config: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          parts: {
            type: 'object',
            'x-kubernetes-validations': [{ rule: 'has(self.a)', message: 'a must be set' }],
            properties: { a: { type: 'boolean' } },
          },
        },
      }),
    );
    expect(source).toContain(`export interface ThingSpec {
  readonly name: string;
  /**
   * How many *\\/ there are.
   *
   * @default 3
   */
  readonly size?: number;
  readonly ports?: readonly (number | string)[];
  readonly modes?: readonly ("a" | "b")[];
  readonly limits?: { readonly [name: string]: number | string };
  readonly config?: { readonly [name: string]: unknown };
  /** Rule: a must be set. */
  readonly parts?: {
    readonly a?: boolean;
  };
}
`);
    expect(source).toContain('/** A thing. */\nexport class Thing {');
  });
});
