/** All projects. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { client } from '../api/client.ts';
import { may } from '../api/session.ts';
import { DialogButton } from '../components/dialog-button.tsx';
import { Check, Field, Filter } from '../components/field.tsx';
import { PageHead } from '../components/page-head.tsx';
import { ListView } from '../components/table.tsx';
import { Command, Empty } from '../components/values.tsx';
import { useList } from '../data/use-list.ts';
import { announce } from '../shell/announcer.tsx';

export function Projects() {
  const [part, setPart] = useState('');
  const projects = useList('projects.list', { query: { name: part || undefined } });
  return (
    <main id="main" class="page" tabIndex={-1}>
      <PageHead title="Projects">{may('admin', 'all') && <NewProject />}</PageHead>
      <div class="toolbar">
        <Filter label="Find by name" value={part} onInput={setPart} />
      </div>
      <ListView
        caption="Projects"
        list={projects}
        rowKey={({ id }) => id}
        unmatched={part !== '' && `No project has “${part}” in its name.`}
        empty={
          <Empty title="There is no project yet">
            <p>A project holds specs, plugin configuration, keys and data planes that belong together.</p>
            <Command text="gw-control init my-api" />
          </Empty>
        }
        columns={({ name, time }) => [
          name(({ id, name: text, description: below }) => ({ text, href: `/ui/projects/${id}`, below })),
          {
            label: 'Deployed',
            cell: (project) =>
              project.deployed_artifact_id ? (
                <span class="status good">deployed</span>
              ) : (
                <span class="status quiet">not yet</span>
              ),
          },
          time('Changed', ({ updated_at }) => updated_at),
        ]}
      />
    </main>
  );
}

function NewProject() {
  const { route } = useLocation();
  return (
    <DialogButton
      primary
      label="New project"
      title="New project"
      action="Create"
      start={{ name: '', description: '', starter: true }}
      act={async ({ starter, ...body }) =>
        starter ? (await client.call('projects.init', { body })).project : client.call('projects.create', { body })
      }
      onDone={({ id, name }) => {
        announce(`Created project ${name}.`);
        route(`/ui/projects/${id}`);
      }}
    >
      {({ values: { name, description, starter }, set }) => (
        <>
          <Field
            label="Name"
            value={name}
            onInput={(name) => set({ name })}
            required
            autofocus
            maxLength={63}
            pattern="[A-Za-z0-9]([A-Za-z0-9._\-]{0,61}[A-Za-z0-9])?"
            hint="Letters, digits, and . _ - between them."
          />
          <Field
            label="Description"
            value={description}
            onInput={(description) => set({ description })}
            maxLength={2000}
          />
          <Check
            label="Begin with a starter spec"
            hint="An OpenAPI document that compiles at once, and the plugins that it uses."
            checked={starter}
            onChange={(starter) => set({ starter })}
          />
        </>
      )}
    </DialogButton>
  );
}
