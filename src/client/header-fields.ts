const secondMs = 1_000;

/**
 * The milliseconds from `nowMs` that `Retry-After` asks to wait: seconds, or a date in any form of HTTP (RFC 9110, sections 10.2.3 and
 * 5.6.7). Undefined without a valid value.
 */
export function retryAfterMs(field: string | null | undefined, nowMs: number): number | undefined {
  if (!field) return undefined;
  if (/^\d+$/.test(field)) return Number(field) * secondMs;
  if (!/^[A-Z][a-z]{2,8},? /.test(field)) return undefined;
  const atMs = Date.parse(field.endsWith(' GMT') ? field : `${field} GMT`);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** The target of the link with `rel="next"` in a `Link` field (RFC 8288). Undefined on the last page. */
export function nextLink(field: string | null | undefined): string | undefined {
  for (const [, target, parameters = ''] of (field ?? '').matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*(?:next\b|"(?:[^"]*\s)?next[\s"])/i.test(parameters)) return target;
  return undefined;
}
