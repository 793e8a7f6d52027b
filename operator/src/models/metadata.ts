/** Metadata of an object in a manifest. */
export interface ManifestMetadata {
  /**
   * Unique among objects of the kind in the namespace.
   *
   * @example 'bookstore'
   */
  readonly name: string;
  /** Default: that of the context with which the manifest is applied. */
  readonly namespace?: string;
  /**
   * Default: none.
   *
   * @example { app: 'bookstore' }
   */
  readonly labels?: { readonly [name: string]: string };
  /**
   * Default: none.
   *
   * @example { 'argocd.argoproj.io/sync-wave': '1' }
   */
  readonly annotations?: { readonly [name: string]: string };
}
