/** How paths of the REST API name a project. */
import { Closed, Uuid } from '../api/schema-types.ts';

export const ProjectParams = Closed({ id: Uuid('Of the project.') });
