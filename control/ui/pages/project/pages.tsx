/** The pages of one project, in their frame. */
import { Route, Router, useRoute } from 'preact-iso/router';
import { Pending } from '../../components/table.tsx';
import { useLiveReload, useProjectStream } from '../../data/live.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { NoSuchPage } from '../not-found.tsx';
import { ApiKeys } from './api-keys.tsx';
import { ArtifactTools } from './artifact-tools.tsx';
import { Artifacts } from './artifacts.tsx';
import { CompilationPage } from './compilation.tsx';
import { Compilations } from './compilations.tsx';
import { DataPlanes } from './data-planes.tsx';
import { DeploymentPage } from './deployment.tsx';
import { Deployments } from './deployments.tsx';
import { Frame } from './frame.tsx';
import { Operations } from './operations.tsx';
import { Overview } from './overview.tsx';
import { ProjectPlugins } from './plugins.tsx';
import { ProjectContext } from './project-context.ts';
import { Settings } from './settings.tsx';
import { SpecPage } from './spec.tsx';
import { Specs } from './specs.tsx';

export function ProjectPages() {
  const { params } = useRoute();
  const id = params['project'] ?? '';
  const { data: project, error, reload } = useAnswer('projects.get', { params: { id } });
  useProjectStream(id);
  useLiveReload(['deployment'], reload);
  if (project === undefined) {
    return (
      <main id="main" class="page" tabIndex={-1}>
        <Pending what="the project" error={error} reload={reload} />
      </main>
    );
  }
  return (
    <ProjectContext.Provider value={{ project, base: `/ui/projects/${id}`, reload }}>
      <Frame>
        <Router>
          <Route path="/" component={Overview} />
          <Route path="/specs" component={Specs} />
          <Route path="/specs/:spec" component={SpecPage} />
          <Route path="/operations" component={Operations} />
          <Route path="/plugins" component={ProjectPlugins} />
          <Route path="/compilations" component={Compilations} />
          <Route path="/compilations/:compilation" component={CompilationPage} />
          <Route path="/artifacts" component={Artifacts} />
          <Route path="/artifacts/:artifact/tools" component={ArtifactTools} />
          <Route path="/deployments" component={Deployments} />
          <Route path="/deployments/:deployment" component={DeploymentPage} />
          <Route path="/data-planes" component={DataPlanes} />
          <Route path="/keys" component={ApiKeys} />
          <Route path="/settings" component={Settings} />
          <Route default component={NoSuchPage} />
        </Router>
      </Frame>
    </ProjectContext.Provider>
  );
}
