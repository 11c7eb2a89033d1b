// An import would set up all that node:http exports, a client of web sockets too, and cost a tenth of the start.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** What follows a status in a status line, such as `Not Found` after 404 (RFC 9112, section 4). */
export const reasonPhrase = (status: number): string => STATUS_CODES[status] as string;
