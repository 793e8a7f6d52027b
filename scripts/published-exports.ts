/**
 * What a published package offers (docs/decisions.md#chosen-exports): `publishConfig.exports` of its package.json to
 * users, and its `exports`, which are for the workspaces, under `internal/` to the other packages of gw. A package
 * without `publishConfig` offers its `exports` to users.
 */

export interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly exports: Readonly<Record<string, string>> };
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface PublishedExport {
  /** `./compiler`, `./internal/egress`, or `.`. */
  readonly name: string;
  readonly isPublic: boolean;
  /** From the package's folder in the checkout. */
  readonly source: string;
  /** From the published package's folder. */
  readonly output: string;
}

/** AssemblyScript is compiled by whoever builds a plugin: it stays as it is. */
export function isAssembly({ source }: Pick<PublishedExport, 'source'>): boolean {
  return source.includes('/assembly/');
}

export function publishedExports(json: PackageJson): readonly PublishedExport[] {
  const { exports = {}, publishConfig } = json;
  const offered = publishConfig?.exports ?? exports;
  const commands = new Map(Object.entries(json.bin ?? {}).map(([command, source]) => [source, command]));
  const row = (name: string, source: string, isPublic: boolean): PublishedExport => ({
    name,
    isPublic,
    source,
    // Flat: what modules find beside themselves, such as workers and plugins, lies there.
    output: isAssembly({ source })
      ? source
      : `./dist/${commands.get(source) ?? (name === '.' ? 'index' : name.slice(2).replaceAll('/', '-'))}.js`,
  });
  return [
    ...Object.entries(offered).map(([name, source]) => row(name, source, true)),
    ...(publishConfig ? Object.entries(exports).map(([name, source]) => row(internalName(name), source, false)) : []),
  ];
}

/** `@gw/gateway/egress` as one published package imports it from another, or from itself. */
export function internalSpecifier(specifier: string, packages: readonly PackageJson[]): string | undefined {
  const owner = packages.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  if (!owner?.publishConfig) return undefined;
  return owner.name + internalName(`.${specifier.slice(owner.name.length)}`).slice(1);
}

function internalName(name: string): string {
  return `./internal/${name === '.' ? 'index' : name.slice(2)}`;
}
