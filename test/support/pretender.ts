/** Tells nothing but an older version of itself, so that any machine can test the hand-over. To be imported at the start of Node.js. */
export const pretender = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })",
)}`;
