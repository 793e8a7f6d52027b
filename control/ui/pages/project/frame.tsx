/** Around each page of a project: its name, and the way to the others. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { may } from '../../api/session.ts';
import { live } from '../../data/live.ts';
import { useFocusOnNavigation } from '../../shell/focus-on-navigation.ts';
import { useProject } from './project-context.ts';

const PAGES = [
  { path: '', label: 'Overview' },
  { path: '/specs', label: 'Specs' },
  { path: '/operations', label: 'Operations' },
  { path: '/plugins', label: 'Plugins' },
  { path: '/compilations', label: 'Compilations' },
  { path: '/artifacts', label: 'Artifacts' },
  { path: '/deployments', label: 'Deployments' },
  { path: '/data-planes', label: 'Data planes' },
] as const;

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const { project, base } = useProject();
  const { path } = useLocation();
  useFocusOnNavigation();
  const current = useRef<HTMLAnchorElement>(null);
  // On narrow screens the pages are in a row that is longer than the screen.
  useEffect(() => current.current?.scrollIntoView({ block: 'nearest', inline: 'center' }), [path]);
  const pages = may('admin')
    ? [...PAGES, { path: '/keys', label: 'Keys' }, { path: '/settings', label: 'Settings' }]
    : PAGES;
  return (
    <div class="frame">
      <nav class="side" aria-label={`Project ${project.name}`}>
        <p class="side-title">
          <a href={base}>{project.name}</a>
          <span class={live.value ? 'live on' : 'live'} title={live.value ? 'Changes show at once' : 'Not connected'}>
            {live.value ? 'live' : 'offline'}
          </span>
        </p>
        <ul>
          {pages.map((page) => {
            const href = base + page.path;
            const here = path === href || (page.path !== '' && path.startsWith(`${href}/`));
            return (
              <li key={page.path}>
                <a class="nav-link" href={href} ref={here ? current : null} aria-current={here ? 'page' : undefined}>
                  {page.label}
                </a>
              </li>
            );
          })}
        </ul>
      </nav>
      <main id="main" class="page" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
