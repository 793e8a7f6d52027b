/** All projects. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { client } from '../api/client.ts';
import { may } from '../api/session.ts';
import { FormDialog } from '../components/dialog.tsx';
import { Check, Field, Filter } from '../components/field.tsx';
import { ListTable } from '../components/table.tsx';
import { Command, Empty, Time } from '../components/values.tsx';
import { useAction } from '../data/use-action.ts';
import { useList } from '../data/use-list.ts';
import { announce } from '../shell/announcer.tsx';
import { useTitle } from '../shell/title.ts';

export function Projects() {
  useTitle('Projects');
  const [name, setName] = useState('');
  const [creating, setCreating] = useState(false);
  const projects = useList('projects.list', { query: { name: name || undefined } });
  return (
    <main id="main" class="page" tabIndex={-1}>
      <header class="page-head">
        <h1>Projects</h1>
        {may('admin', 'all') && (
          <button type="button" class="button primary" aria-haspopup="dialog" onClick={() => setCreating(true)}>
            New project
          </button>
        )}
      </header>
      <div class="toolbar">
        <Filter label="Find by name" value={name} onInput={setName} />
      </div>
      <section class="card" aria-label="Projects">
        <ListTable
          caption="Projects"
          list={projects}
          rowKey={({ id }) => id}
          empty={
            name === '' ? (
              <Empty title="There is no project yet">
                <p>A project holds specs, plugin configuration, keys and data planes that belong together.</p>
                <Command text="gw-control init my-api" />
              </Empty>
            ) : (
              <p class="muted pad">No project has “{name}” in its name.</p>
            )
          }
          columns={[
            {
              label: 'Name',
              kind: 'grow',
              cell: (project) => (
                <>
                  <a class="strong" href={`/ui/projects/${project.id}`}>
                    {project.name}
                  </a>
                  {project.description && <div class="muted clamp">{project.description}</div>}
                </>
              ),
            },
            {
              label: 'Deployed',
              cell: (project) =>
                project.deployed_artifact_id ? (
                  <span class="status good">deployed</span>
                ) : (
                  <span class="status quiet">not yet</span>
                ),
            },
            { label: 'Changed', cell: (project) => <Time at={project.updated_at} /> },
          ]}
        />
      </section>
      {creating && <NewProject onClose={() => setCreating(false)} />}
    </main>
  );
}

function NewProject({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [starter, setStarter] = useState(true);
  const { run, busy, error } = useAction(async () => {
    const body = { name, description };
    const project = starter
      ? (await client.call('projects.init', { body })).project
      : await client.call('projects.create', { body });
    announce(`Created project ${project.name}.`);
    onClose();
    route(`/ui/projects/${project.id}`);
  });
  return (
    <FormDialog title="New project" action="Create" busy={busy} error={error} onSubmit={run} onClose={onClose}>
      <Field
        label="Name"
        value={name}
        onInput={setName}
        required
        autofocus
        maxLength={63}
        pattern="[A-Za-z0-9]([A-Za-z0-9._\-]{0,61}[A-Za-z0-9])?"
        hint="Letters, digits, and . _ - between them."
      />
      <Field label="Description" value={description} onInput={setDescription} maxLength={2000} />
      <Check
        label="Begin with a starter spec"
        hint="An OpenAPI document that compiles at once, and the plugins that it uses."
        checked={starter}
        onChange={setStarter}
      />
    </FormDialog>
  );
}
