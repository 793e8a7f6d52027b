import { describe, expect, it } from 'vitest';
import { ApiError } from './api-server.ts';
import { duplicateLists, takeOver } from './list-takeover.ts';

const refused = (status: number, ...causes: readonly unknown[]) =>
  new ApiError(status, 'Invalid', 'no', undefined, { details: { causes } });
const duplicate = (field: string) => ({ reason: 'FieldValueDuplicate', field });
const port = (number: number) => `k:{"port":${number},"protocol":"TCP"}`;
const entry = (manager: string, operation: string, fieldsV1: object) => ({ manager, operation, fieldsV1 });

describe('lists in which a name is there twice', () => {
  it('are those that the API server names', () => {
    const both = refused(422, duplicate('spec.ports[1].name'), duplicate('spec.ports[2].name'));
    expect(duplicateLists(both)).toEqual(['.spec.ports']);
    expect(duplicateLists(refused(422, duplicate('spec.template.spec.containers[0].ports[1].name')))).toEqual([
      '.spec.template.spec.containers.ports',
    ]);
  });
  it('no other refusal has any', () => {
    expect(duplicateLists(refused(409, duplicate('spec.ports[1].name')))).toEqual([]);
    expect(duplicateLists(refused(422, { reason: 'FieldValueInvalid', field: 'spec.ports[0].nodePort' }))).toEqual([]);
    expect(duplicateLists(refused(422, duplicate('spec.name')))).toEqual([]);
    expect(duplicateLists(new ApiError(422, 'Invalid', 'no'))).toEqual([]);
    expect(duplicateLists(new Error('no'))).toEqual([]);
  });
});

describe('a list that is taken over', () => {
  const ours = entry('gw-operator', 'Apply', { 'f:spec': { 'f:selector': {} } });
  const status = { ...entry('kubelet', 'Update', { 'f:status': {} }), subresource: 'status' };

  it('is ours with what others have put there, and theirs no longer', () => {
    const edit = entry('kubectl-edit', 'Update', {
      'f:spec': { 'f:type': {}, 'f:ports': { [port(81)]: { '.': {}, 'f:name': {} } } },
    });
    const other = entry('other', 'Apply', { 'f:spec': { 'f:ports': { [port(82)]: { '.': {} } } } });
    expect(takeOver([edit, ours, status, other], 'gw-operator', ['.spec.ports'])).toEqual({
      manager: 'kubectl-edit',
      fields: ['.spec.ports'],
      managedFields: [
        {
          ...ours,
          fieldsV1: {
            'f:spec': {
              'f:selector': {},
              'f:ports': { [port(81)]: { '.': {}, 'f:name': {} }, [port(82)]: { '.': {} } },
            },
          },
        },
        { ...edit, fieldsV1: { 'f:spec': { 'f:type': {} } } },
        status,
      ],
    });
  });

  it('can be within items of another', () => {
    const inItem = (list: object) => ({ 'f:spec': { 'f:containers': { 'k:{"name":"gateway"}': list } } });
    const edit = entry('kubectl-edit', 'Update', inItem({ 'f:ports': { [port(81)]: {} }, 'f:image': {} }));
    expect(takeOver([ours, edit], 'gw-operator', ['.spec.containers.ports'])?.managedFields).toEqual([
      { ...ours, fieldsV1: { 'f:spec': { 'f:selector': {}, ...inItem({ 'f:ports': { [port(81)]: {} } })['f:spec'] } } },
      { ...edit, fieldsV1: inItem({ 'f:image': {} }) },
    ]);
  });

  it('is not there where nobody else owns anything of it, or we own nothing', () => {
    const edit = entry('kubectl-edit', 'Update', { 'f:spec': { 'f:type': {} } });
    expect(takeOver([ours, edit, status], 'gw-operator', ['.spec.ports'])).toBeUndefined();
    expect(takeOver([edit], 'gw-operator', ['.spec.type'])).toBeUndefined();
    expect(takeOver(undefined, 'gw-operator', ['.spec.ports'])).toBeUndefined();
    expect(takeOver(['x', null, { manager: 1 }], 'gw-operator', ['.spec.ports'])).toBeUndefined();
  });
});
