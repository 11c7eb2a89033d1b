/** A part of a header field. What speaks of what binds is marked. */
export interface Piece {
  text: string;
  isMarked: boolean;
}

/**
 * Header fields about limits, each as the pieces of its line. Marked is what the binding window says, and during a ban what tells of its
 * end. `X-RateLimit-*` and `Retry-After` are of that alone, the others name both windows.
 */
export function linesOf(
  headers: Readonly<Record<string, string>>,
  binding: string,
  isBanned: boolean,
): Piece[][] {
  return Object.entries(headers).map(([name, value]) => {
    if (/^(x-ratelimit-|retry-after$)/i.test(name)) return [{ text: `${name}: ${value}`, isMarked: true }];
    const bans = isBanned && /^ratelimit$/i.test(name);
    const parts = value.split(/(?<=,)/).map((text) => ({
      text,
      isMarked: bans || (!isBanned && text.trim().startsWith(`"${binding}"`)),
    }));
    return [{ text: `${name}: `, isMarked: false }, ...parts];
  });
}
