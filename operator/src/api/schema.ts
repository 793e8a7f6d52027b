/**
 * How the kinds are written down: one constant JSON schema a kind (the structural subset that CustomResourceDefinitions
 * take), from which the TypeScript type, the CRD, the check of local manifests and the documentation all come.
 */
import type { JsonObject } from '@gw/gateway/artifact';

/** The structural schema subset that we use. */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly enum?: readonly (string | number)[];
  readonly default?: string | number | boolean | readonly string[] | { readonly [name: string]: unknown };
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-list-type'?: 'map' | 'set' | 'atomic';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[];
}

type Present<P, S> = {
  [K in keyof P]: K extends (S extends { readonly required: readonly (infer R)[] } ? R : never)
    ? K
    : P[K] extends { readonly default: unknown }
      ? K
      : never;
}[keyof P];

/** The type of the values that a schema admits, once defaults are filled in. */
export type FromSchema<S> = S extends { readonly enum: readonly (infer E)[] }
  ? E
  : S extends { readonly type: 'string' }
    ? string
    : S extends { readonly type: 'integer' | 'number' }
      ? number
      : S extends { readonly type: 'boolean' }
        ? boolean
        : S extends { readonly type: 'array'; readonly items: infer I }
          ? readonly FromSchema<I>[]
          : S extends { readonly type: 'object'; readonly properties: infer P }
            ? { readonly [K in Present<P, S>]: FromSchema<P[K]> } & {
                readonly [K in Exclude<keyof P, Present<P, S>>]?: FromSchema<P[K]>;
              }
            : S extends { readonly type: 'object'; readonly additionalProperties: infer A }
              ? { readonly [name: string]: FromSchema<A> }
              : S extends { readonly 'x-kubernetes-int-or-string': true }
                ? string | number
                : JsonObject;

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** 0 is always shown, above only with `-o wide`. */
  readonly priority?: number;
}

/** A kind of the API group gw.dev. */
export interface KindDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec: Schema;
  readonly status: Schema;
  readonly columns: readonly PrinterColumn[];
  /** CEL rules on the whole object. */
  /** Rules about the whole object. `fieldPath`: the field that a message is about, which the schema must define. */
  readonly validations: readonly { readonly rule: string; readonly message: string; readonly fieldPath: string }[];
}

export const GROUP = 'gw.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;
