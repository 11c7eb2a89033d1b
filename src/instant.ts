const rfc3339 =
  /^(?<date>\d{4}-\d{2}-\d{2})[Tt](?<minute>\d{2}:\d{2}):(?<second>\d{2})(?<fraction>\.\d{1,9})?(?<offset>[Zz]|[+-]\d{2}:\d{2})$/;

/**
 * The same instant in UTC, or undefined if `text` is not an RFC 3339 date-time with at most nine fractional digits
 * and a UTC year of 0000 to 9999. A leap second becomes the next second, as POSIX time counts it.
 */
export function toUtc(text: string): string | undefined {
  const parts = rfc3339.exec(text)?.groups;
  if (!parts) return undefined;
  const isLeapSecond = parts.second === '60';
  try {
    const offset = parts.offset === 'z' ? 'Z' : parts.offset;
    const second = isLeapSecond ? '59' : parts.second;
    const instant = Temporal.Instant.from(
      `${parts.date}T${parts.minute}:${second}${parts.fraction ?? ''}${offset}`,
    );
    if (isLeapSecond && !instant.toString().includes('T23:59:59')) return undefined;
    const utc = (isLeapSecond ? instant.add({ seconds: 1 }) : instant).toString();
    return /^\d{4}-/.test(utc) ? utc : undefined;
  } catch {
    return undefined;
  }
}
