/** Media types in registries (OCI image specification, and Docker's forms of the same). */
export const IMAGE_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const IMAGE_INDEX = 'application/vnd.oci.image.index.v1+json';
export const IMAGE_CONFIG = 'application/vnd.oci.image.config.v1+json';
export const TAR_LAYER = 'application/vnd.oci.image.layer.v1.tar';
const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const DOCKER_INDEX = 'application/vnd.docker.distribution.manifest.list.v2+json';

export const MANIFESTS = [IMAGE_MANIFEST, IMAGE_INDEX, DOCKER_MANIFEST, DOCKER_INDEX] as const;
