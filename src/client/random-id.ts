/** 128 random bits as text. Unlike `randomUUID`, what makes them is there on pages without TLS, too. */
export const randomId = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
