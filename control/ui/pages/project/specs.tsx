/** The specs of a project, and the place where new ones are dropped. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { may } from '../../api/session.ts';
import type { Spec, SpecUpload } from '../../api/types.ts';
import { Choice, Filter } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ListTable } from '../../components/table.tsx';
import { Command, Empty, Time } from '../../components/values.tsx';
import { useList } from '../../data/use-list.ts';
import { draftOf, ofNewSpec, ofSpec } from '../../editor/drafts.ts';
import { announce } from '../../shell/announcer.tsx';
import { CompileButton } from './compile-button.tsx';
import type { Draft, Refused } from './draft.ts';
import { useProject } from './project-context.ts';
import { SpecDraft } from './spec-draft.tsx';
import { SpecUploadZone } from './spec-upload.tsx';

export function Specs() {
  const { project, base } = useProject();
  const { route } = useLocation();
  const [name, setName] = useState('');
  const [type, setType] = useState<Spec['type'] | ''>('');
  const [draft, setDraft] = useState<Draft | Refused | null>(() => {
    const kept = draftOf(ofNewSpec(project.id));
    return kept && { ...kept, specId: null, isKept: true };
  });
  const query = { name: name || undefined, type: type || undefined };
  const list = useList('specs.listOfProject', { params: { id: project.id }, query });
  const uploaded = ({ id, name, revision }: SpecUpload) => {
    announce(`Uploaded ${name}, revision ${revision}.`);
    route(`${base}/specs/${id}`);
  };
  if (draft) {
    return (
      <>
        <PageHead title={draft.filename} above={{ href: `${base}/specs`, label: 'Specs' }} />
        <SpecDraft key={draft.filename} draft={draft} onSaved={uploaded} onClose={() => setDraft(null)} />
      </>
    );
  }
  return (
    <>
      <PageHead title="Specs">
        <CompileButton />
      </PageHead>
      {may('editor') && <SpecUploadZone onUploaded={uploaded} onRefused={setDraft} />}
      <div class="toolbar">
        <Filter label="Find by name" value={name} onInput={setName} />
        <Choice
          label="Type"
          compact
          value={type}
          onChange={setType}
          options={[
            { value: '', label: 'Any type' },
            { value: 'openapi', label: 'OpenAPI' },
            { value: 'asyncapi', label: 'AsyncAPI' },
          ]}
        />
      </div>
      <section class="card" aria-label="Specs">
        <ListTable
          caption="Specs"
          list={list}
          rowKey={({ id }) => id}
          empty={
            name === '' && type === '' ? (
              <Empty title="There is no spec yet">
                <p>Upload an OpenAPI or AsyncAPI document: its operations become the routes of the gateway.</p>
                <Command text={`gw-control specs push openapi.yaml --name ${project.name} --project ${project.name}`} />
              </Empty>
            ) : (
              <p class="muted pad">No spec fits the filter.</p>
            )
          }
          columns={[
            {
              label: 'Name',
              kind: 'grow',
              cell: ({ id, name, title }) => (
                <>
                  <a class="strong" href={`${base}/specs/${id}`}>
                    {name}
                  </a>
                  {draftOf(ofSpec(id)) && <span class="status warn">not uploaded yet</span>}
                  <div class="muted clamp">{title}</div>
                </>
              ),
            },
            { label: 'Type', cell: ({ type }) => (type === 'openapi' ? 'OpenAPI' : 'AsyncAPI') },
            { label: 'Version', cell: ({ version }) => version },
            { label: 'Revision', kind: 'number', cell: ({ revision }) => revision },
            { label: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
          ]}
        />
      </section>
    </>
  );
}
