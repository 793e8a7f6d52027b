/** The project that a page is about. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Project } from '../../api/types.ts';

export interface ProjectPage {
  readonly project: Project;
  /** Path of its overview. */
  readonly base: string;
  /** Reads the project anew. */
  readonly reload: () => void;
}

export const ProjectContext = createContext<ProjectPage | null>(null);

/** Throws outside of a project's pages. */
export function useProject(): ProjectPage {
  const page = useContext(ProjectContext);
  if (page === null) throw new Error('this page does not belong to a project');
  return page;
}
