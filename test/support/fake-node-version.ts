/** A module for `--import`, which makes Node.js report an old version, so that any machine can test the hand-over. */
export const fakeNodeVersion = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })",
)}`;
