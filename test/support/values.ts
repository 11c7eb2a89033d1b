/** Consecutive numbers, from 1 by default. */
export const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, i) => from + i);

/** The path of the next page, below `/v1`. */
export const nextPath = ({ headers }: { headers: Record<string, string> }): string | undefined =>
  /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.link ?? '')?.[1];

export const statusesOf = (answers: readonly { status: number }[]) => answers.map(({ status }) => status);

export const idsOf = (some: readonly { id: number }[]) => some.map(({ id }) => id);

/** The path of the next page, below `/v1`. */
export const nextPage = ({ headers }: { headers: Record<string, string> }): string | undefined =>
  /\/v1(\S+)>; rel="next"/.exec(headers.link ?? '')?.[1];
