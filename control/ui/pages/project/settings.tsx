/** Settings of a project: name, description, upstreams, deletion. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Versioned } from '../../../src/client/client.ts';
import { client, ifMatch } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import type { Project } from '../../api/types.ts';
import { ConfirmButton } from '../../components/dialog-button.tsx';
import { Field } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Problem } from '../../components/problem.tsx';
import { Pending } from '../../components/table.tsx';
import { useAction } from '../../data/use-action.ts';
import { useLoaded } from '../../data/use-loaded.ts';
import { announce } from '../../shell/announcer.tsx';
import { useProject } from './project-context.ts';

export function Settings() {
  const { project, reload } = useProject();
  const { id } = project;
  const settings = useLoaded(id, (signal) => client.read('projects.get', { params: { id } }, { signal }));
  const { data, error, reload: read } = settings;
  return (
    <>
      <PageHead title="Settings" />
      {data === undefined ? (
        <Pending what="the settings" error={error} reload={read} />
      ) : (
        <SettingsForm
          key={data.etag}
          {...data}
          onSaved={() => {
            read();
            reload();
          }}
        />
      )}
      {may('admin') && <DeleteProject />}
    </>
  );
}

interface SettingsFormProps extends Versioned<Project> {
  readonly onSaved: () => void;
}

function SettingsForm({ value: project, etag, onSaved }: SettingsFormProps) {
  const [name, setName] = useState(project.name);
  const [description, setDescription] = useState(project.description);
  const [upstreams, setUpstreams] = useState(Object.entries(project.upstreams));
  const { run, busy, error } = useAction(async () => {
    const body = { name, description, upstreams: Object.fromEntries(upstreams), mcp: project.mcp };
    await client.call('projects.update', { params: { id: project.id }, body }, ifMatch(etag));
    announce('Saved the settings.');
    onSaved();
  });
  const change = (index: number, entry: [string, string] | null) =>
    setUpstreams((last) => last.flatMap((each, i) => (i !== index ? [each] : entry === null ? [] : [entry])));
  return (
    <form
      class="card pad"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <Field label="Name" value={name} onInput={setName} required maxLength={63} />
      <Field label="Description" value={description} onInput={setDescription} maxLength={2000} />
      <fieldset>
        <legend>Upstreams</legend>
        <p class="hint">
          What <code>upstream://NAME</code> in the config of a plugin stands for.
        </p>
        {upstreams.map(([upstream, url], index) => (
          <div class="pair" key={index}>
            <Field label="Name" value={upstream} onInput={(value) => change(index, [value, url])} required />
            <Field label="URL" value={url} onInput={(value) => change(index, [upstream, value])} required />
            <button
              type="button"
              class="button small"
              aria-label={`Remove upstream ${upstream}`}
              onClick={() => change(index, null)}
            >
              Remove
            </button>
          </div>
        ))}
        <button type="button" class="button small" onClick={() => setUpstreams((last) => [...last, ['', 'https://']])}>
          Add an upstream
        </button>
      </fieldset>
      <Problem error={error} />
      <button type="submit" class="button primary" aria-disabled={busy}>
        {busy ? 'Saving…' : 'Save'}
      </button>
    </form>
  );
}

function DeleteProject() {
  const { project } = useProject();
  const { route } = useLocation();
  return (
    <section class="card pad danger-zone" aria-label="Delete the project">
      <div>
        <h2>Delete the project</h2>
        <p class="muted">With its specs, plugin configuration, artifacts, deployments and keys.</p>
      </div>
      <ConfirmButton
        label="Delete"
        title={`Delete ${project.name}?`}
        action="Delete"
        act={() => client.call('projects.delete', { params: { id: project.id } })}
        done={`Deleted project ${project.name}.`}
        onDone={() => route('/ui')}
      >
        <p>All that belongs to it is gone for good.</p>
      </ConfirmButton>
    </section>
  );
}
