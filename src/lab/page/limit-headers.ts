/** A part of a header field. */
export interface Piece {
  text: string;
  isMarked: boolean;
}

/**
 * The lines of header fields about limits, in pieces. Marks the binding window or, during a ban, the fields with the end of the ban.
 * `X-RateLimit-*` and `Retry-After` describe only the binding window. The other fields describe both windows.
 */
export function linesOf(
  headers: Readonly<Record<string, string>>,
  binding: string,
  isBanned: boolean,
): Piece[][] {
  return Object.entries(headers).map(([name, value]) => {
    if (/^(x-ratelimit-|retry-after$)/i.test(name)) return [{ text: `${name}: ${value}`, isMarked: true }];
    const namesBan = isBanned && /^ratelimit$/i.test(name);
    const parts = value.split(/(?<=,)/).map((text) => ({
      text,
      isMarked: namesBan || (!isBanned && text.trim().startsWith(`"${binding}"`)),
    }));
    return [{ text: `${name}: `, isMarked: false }, ...parts];
  });
}
