/** Every page and its path. */

import { useEffect, useErrorBoundary } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router';
import { signedIn, token } from './api/session.ts';
import { Problem } from './components/problem.tsx';
import { Audit } from './pages/audit.tsx';
import { NotFound } from './pages/not-found.tsx';
import { ProjectPages } from './pages/project/pages.tsx';
import { Projects } from './pages/projects.tsx';
import { Plugin } from './pages/registry/plugin.tsx';
import { Registry } from './pages/registry/registry.tsx';
import { resume, SignIn } from './pages/sign-in.tsx';
import { Tokens } from './pages/tokens.tsx';
import { Announcer } from './shell/announcer.tsx';
import { useFocusOnNavigation } from './shell/focus-on-navigation.ts';
import { Header } from './shell/header.tsx';

export function App() {
  useEffect(() => void resume(), []);
  return (
    <LocationProvider scope="/ui">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header />
      {signedIn.value ? (
        <Pages />
      ) : token.value === null ? (
        <SignIn />
      ) : (
        <main id="main" class="page" aria-busy="true" />
      )}
      <Announcer />
    </LocationProvider>
  );
}

function Pages() {
  const { path } = useLocation();
  useFocusOnNavigation();
  const [failure, retry] = useErrorBoundary();
  // Another page may do better.
  useEffect(retry, [path]);
  if (failure !== undefined) {
    return (
      <main id="main" class="page" tabIndex={-1}>
        <Problem error={failure} onRetry={retry} />
      </main>
    );
  }
  return (
    <Router>
      <Route path="/ui" component={Projects} />
      <Route path="/ui/projects/:project" component={ProjectPages} />
      <Route path="/ui/projects/:project/*" component={ProjectPages} />
      <Route path="/ui/plugins" component={Registry} />
      <Route path="/ui/plugins/:name/:version" component={Plugin} />
      <Route path="/ui/tokens" component={Tokens} />
      <Route path="/ui/audit" component={Audit} />
      <Route default component={NotFound} />
    </Router>
  );
}
