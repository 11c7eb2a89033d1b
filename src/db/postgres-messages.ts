/** A row is the longest message. It holds a few bodies of at most 64 KiB, and each may be some times as long as text in text. */
const maxBytes = 4 * 1024 * 1024;
/** A letter for the type, and the length of all but that letter. */
const headBytes = 5;
/** The types of messages in which the library looks for the end without an end: ErrorResponse and NoticeResponse. */
const fielded = [0x45, 0x4e];

/** Cuts what a server says into whole messages: https://www.postgresql.org/docs/current/protocol-message-formats.html */
export class PostgresMessages {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** So many bytes are needed to go on. */
  #wanted = headBytes;

  /** Takes what came next, and returns the messages that are complete. Throws if there is one that cannot be right. */
  take(part: Buffer): Buffer | undefined {
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes < this.#wanted) return undefined;
    const bytes = this.#parts.length === 1 ? part : Buffer.concat(this.#parts);
    const end = this.#endOfWhole(bytes);
    this.#parts = end < bytes.length ? [bytes.subarray(end)] : [];
    this.#bytes = bytes.length - end;
    return end > 0 ? bytes.subarray(0, end) : undefined;
  }

  #endOfWhole(bytes: Buffer): number {
    let start = 0;
    this.#wanted = headBytes;
    while (start + headBytes <= bytes.length) {
      const length = bytes.readUInt32BE(start + 1);
      if (length < 4 || length > maxBytes)
        throw new Error('The server sent what is not a PostgreSQL message.');
      const end = start + 1 + length;
      if (end > bytes.length) {
        this.#wanted = end - start;
        break;
      }
      if (fielded.includes(bytes[start] as number)) assertEnds(bytes.subarray(start + headBytes, end));
      start = end;
    }
    return start;
  }
}

/** Each field ends with a zero, and so does the list of them. */
function assertEnds(fields: Buffer): void {
  const isEnded = fields.at(-1) === 0 && (fields.length === 1 || fields.at(-2) === 0);
  if (!isEnded) throw new Error('The server sent an error without an end.');
}
