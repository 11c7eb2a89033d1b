/** Browsers send a few dozen characters in Accept-Encoding, and up to 200 in Accept. */
const maxLength = 1_000;

const weightForm = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The members of a field such as `Accept` in lower case, with their weights (RFC 9110, section 12.4.2). The only known parameter is the
 * charset of our texts. Members with other parameters and malformed members are left out. A field above `maxLength` is ignored, because
 * parsing it would cost more than the rest of the response.
 */
export function weightsIn(field: string | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  if (field === undefined || field.length > maxLength) return weights;
  for (const member of field.toLowerCase().split(',')) {
    const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
    const others = parameters.filter((parameter) => !/^charset=(?:utf-8|"utf-8")$/.test(parameter));
    const [weight = 'q=1', ...more] = others;
    const [, value] = weightForm.exec(weight) ?? [];
    if (name !== '' && value !== undefined && more.length === 0) weights.set(name, Number(value));
  }
  return weights;
}
