/** Which ApiSpecs a project takes. Pure. */
import type { ApiSpec, GatewayProject } from '../../api/resources.ts';
import { selects } from '../../runtime/selector.ts';

/** Reports whether the project takes the ApiSpec, by name or by label. */
export function takesSpec(project: GatewayProject, apiSpec: ApiSpec): boolean {
  const { names, selector } = project.spec.specs;
  const named = names?.includes(apiSpec.metadata.name) ?? false;
  return named || (selector !== undefined && selects(selector, apiSpec.metadata.labels));
}
