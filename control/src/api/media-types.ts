/**
 * Content types of the REST API (docs/reference/control-plane.md#media-types, docs/decisions.md#control-media-types).
 */
export const JSON_TYPE = 'application/vnd.gw.v1+json';
export const PROBLEM_TYPE = 'application/problem+json';
/** Media types of request bodies. */
export const JSON_REQUEST_TYPES = ['application/json', JSON_TYPE] as const;
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';
export const EVENT_STREAM_TYPE = 'text/event-stream';
export const ARTIFACT_TYPE = 'application/vnd.gw.artifact';
