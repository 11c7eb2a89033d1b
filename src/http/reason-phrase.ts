// An import would load all that node:http exports, also a client of web sockets, and take a tenth of the start.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** The reason phrase of a status, such as `Not Found` for 404 (RFC 9112, section 4). */
export const reasonPhrase = (status: number): string => STATUS_CODES[status] as string;
