import { type ApiError, type ErrorCode, maxRefusalBytes } from './errors.ts';
import { withoutKeys } from './redact.ts';

/** The registry of the problem types that the IETF draft on rate limit headers defines (section 5 of revision 11). */
const registry = 'https://iana.org/assignments/http-problem-types#';

/** A short name of an error code, such as `Not found`. It is the same for every error of the code. */
export const titleOf = (code: ErrorCode) =>
  code
    .replaceAll('_', ' ')
    .replace('json', 'JSON')
    .replace(/^./, (letter) => letter.toUpperCase());

/** The type and title that the IETF draft on rate limit headers defines for this error, if any. */
function typeOfLimits({ code, violatedPolicies }: ApiError): { type: string; title: string } | undefined {
  if (violatedPolicies.length > 0) return { type: `${registry}quota-exceeded`, title: 'Quota exceeded' };
  if (code === 'key_banned')
    return { type: `${registry}abnormal-usage-detected`, title: 'Abnormal usage detected' };
  return undefined;
}

/** An error as a problem (RFC 9457), with as many `errors` as fit into a refusal. Each code has a page below `pages`. */
export function problemOf(error: ApiError, pages: string) {
  const { code, status, message, problems, violatedPolicies } = error;
  const { type, title } = typeOfLimits(error) ?? { type: `${pages}/${code}`, title: titleOf(code) };
  const errors = problems.map(({ place, detail }) => ({ ...place, detail: withoutKeys(detail ?? message) }));
  const problem = () => ({
    ...{ type, title, status, detail: message, code },
    ...(errors.length > 0 && { errors }),
    ...(violatedPolicies.length > 0 && { 'violated-policies': violatedPolicies }),
  });
  while (errors.length > 0 && Buffer.byteLength(JSON.stringify(problem())) > maxRefusalBytes) errors.pop();
  return problem();
}
