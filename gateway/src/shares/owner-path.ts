/** The owner that something shared by clients counts for. */

/** From the outermost owner to the innermost, such as a policy, a client's site, its network, a credential's name. */
export type OwnerPath = readonly string[];

/** Owner of things that belong to no particular owner. */
export const NOBODY: OwnerPath = ['nobody'];
