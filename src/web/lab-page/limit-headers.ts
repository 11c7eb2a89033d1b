/** A part of a header field. */
export interface Piece {
  text: string;
  isMarked: boolean;
}

/**
 * The lines of header fields about limits, in pieces. Marked is the window that binds; during a ban, the fields that name its end.
 * `X-RateLimit-*` and `Retry-After` describe that alone, the others both windows.
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
