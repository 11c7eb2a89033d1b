// An import would set up all that node:http exports, a client of web sockets among it, at the cost of a tenth of the start.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** What follows a status in a status line, such as `Not Found` after 404 (RFC 9112, section 4). Empty where unknown. */
export const reasonPhrase = (status: number): string => STATUS_CODES[status] ?? '';
