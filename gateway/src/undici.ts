/** undici, as a file of its own in the image: its source takes 1 MB of memory once it is read. */
export { Agent, request } from 'undici';
