/**
 * Type declarations of the published packages: what their public exports reach, and nothing else, each file in the
 * package that its source belongs to.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { isAssembly, type PackageJson, publishedExports } from './published-exports.ts';

const root = join(import.meta.dirname, '..');

export interface DeclaredPackage {
  readonly json: PackageJson;
  /** Of the workspace, from the root of the repository. */
  readonly folder: string;
  /** Of the package that is being made. */
  readonly target: string;
}

/** Paths of declarations by package name and export name, such as `./compiler`: what `types` of an export says. */
export type Declared = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** An export with where its declaration is. */
interface Entry {
  readonly owner: DeclaredPackage;
  readonly name: string;
  /** Of the source, from the root of the repository. */
  readonly file: string;
}

/** Writes them below `dist/types` of the packages. `scratch`: a folder for what the compiler writes. */
export function writeDeclarations(packages: readonly DeclaredPackage[], scratch: string): Declared {
  const entries = packages.flatMap(entriesOf);
  const isPublic = ({ owner, name }: Entry) =>
    publishedExports(owner.json).some((each) => each.isPublic && each.name === name);
  const open = entries.filter(isPublic);
  compile(packages, open, scratch);
  const declared = new Map(packages.map(({ json }) => [json.name, new Map<string, string>()]));
  const declare = ({ owner, name, file }: Entry) =>
    declared.get(owner.json.name)?.set(name, `./${placeOf(owner, file)}`);
  const files = new Set<string>();
  for (const entry of open) {
    declare(entry);
    files.add(entry.file);
  }
  // A set goes on to what is added while it is walked.
  for (const file of files) {
    const owner = ownerOf(packages, file);
    const text = readFileSync(join(scratch, file.replace(/\.ts$/, '.d.ts')), 'utf8');
    const written = text.replace(TOKEN, (token: string, keyword = '', quote = '', specifier?: string) => {
      if (specifier === undefined) return token;
      if (specifier.startsWith('.')) {
        files.add(posix.join(posix.dirname(file), specifier));
        return `${keyword}${quote}${specifier.replace(/\.ts$/, '.js')}${quote}`;
      }
      const found = entryFor(specifier, entries);
      if (!found) {
        checkDependency(owner, specifier, file);
        return token;
      }
      files.add(found.file);
      declare(found);
      return `${keyword}${quote}${found.owner.json.name}${found.name.slice(1)}${quote}`;
    });
    const path = join(owner.target, placeOf(owner, file));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, written);
  }
  return declared;
}

/** Comments and strings as they are; `keyword`, `quote` and `specifier` of what names a module. */
const TOKEN = /\/\*[\s\S]*?\*\/|(\bfrom |\bimport\(|\bimport )(["'])([^"']+)\2|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g;

function entriesOf(owner: DeclaredPackage): Entry[] {
  return publishedExports(owner.json)
    .filter((each) => !isAssembly(each))
    .map(({ name, source }) => ({ owner, name, file: posix.join(owner.folder, source) }));
}

/** What a specifier of the workspaces is when it is published: the public export where there is one. */
function entryFor(specifier: string, entries: readonly Entry[]): Entry | undefined {
  const named = (name: string) => entries.find(({ owner, name: own }) => owner.json.name + own.slice(1) === name);
  const [scope, base, ...rest] = specifier.split('/');
  return named(specifier) ?? named(`${scope}/${base}/internal/${rest.join('/') || 'index'}`);
}

/** The nearest: the SDK's folder lies in the gateway's. */
function ownerOf(packages: readonly DeclaredPackage[], file: string): DeclaredPackage {
  const [owner] = packages
    .filter(({ folder }) => file.startsWith(`${folder}/`))
    .sort((a, b) => b.folder.length - a.folder.length);
  if (!owner) throw new Error(`a declaration reaches ${file}, which belongs to no published package`);
  return owner;
}

function placeOf({ folder }: DeclaredPackage, file: string): string {
  const place = posix.relative(folder, file).replace(/^src\//, '');
  return posix.join('dist', 'types', place.replace(/\.ts$/, '.d.ts'));
}

/** Whoever installs the package must be able to read them. */
function checkDependency({ json }: DeclaredPackage, specifier: string, file: string): void {
  const [scope = '', base] = specifier.split('/');
  const name = scope.startsWith('@') ? `${scope}/${base}` : scope;
  if (Object.hasOwn(json.dependencies ?? {}, name)) return;
  throw new Error(
    `${json.name}: the declaration of ${file} needs ${specifier}: keep it out of what is exported, or add ${name} to the dependencies`,
  );
}

/** Types are not checked here: `npm run check` does that. */
function compile(packages: readonly DeclaredPackage[], entries: readonly Entry[], outDir: string): void {
  mkdirSync(outDir, { recursive: true });
  const up = (file: string) => relative(outDir, join(root, file));
  const project = join(outDir, 'tsconfig.json');
  const compilerOptions = {
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true },
    ...{ rootDir: relative(outDir, root), outDir: '.' },
    // What the compiler finds below node_modules it writes nothing for.
    paths: Object.fromEntries(packages.flatMap((each) => pathsOf(each, up))),
  };
  writeFileSync(
    project,
    JSON.stringify({
      extends: up('tsconfig.json'),
      compilerOptions,
      files: entries.map(({ file }) => up(file)),
      include: [],
    }),
  );
  execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', project], { cwd: root, stdio: 'inherit' });
}

/** Where the exports of a workspace are in the checkout, by what imports them. */
function pathsOf({ json, folder }: DeclaredPackage, up: (file: string) => string): [string, string[]][] {
  return Object.entries(json.exports ?? {}).map(([name, source]) => [
    json.name + name.slice(1),
    [up(posix.join(folder, source))],
  ]);
}
