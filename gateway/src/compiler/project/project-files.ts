/** Which files of a folder or an archive belong to a project (docs/decisions.md#one-project). */

/** Documents, and what documents and configs may name: files of firewall rules, and of the phrases that these name. */
const FILES = /\.(?:ya?ml|json|conf|data)$/i;

/** Reports whether the file belongs to a project: not if it, or a folder that it is in, is hidden. */
export function isProjectFile(path: string): boolean {
  // A name that leaves the folder is kept here, so that it is refused later.
  const isLeftOut = (part: string) => (part.startsWith('.') && part !== '..') || part === 'node_modules';
  return FILES.test(path) && !path.split('/').some(isLeftOut);
}
