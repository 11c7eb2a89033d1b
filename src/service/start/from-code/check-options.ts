/** A rule for a value. */
export interface Rule {
  fits(value: unknown): boolean;
  /** In words, to follow "must be". */
  must: string;
}

export const flag: Rule = { fits: (value) => typeof value === 'boolean', must: 'true or false' };

export const nonEmptyText: Rule = {
  fits: (value) => typeof value === 'string' && value !== '',
  must: 'a text',
};

/** For values that the lab checks itself. */
export const anything: Rule = { fits: () => true, must: 'anything' };

/** Throws TypeError unless a value fits its rule. */
export function assertFits(name: string, value: unknown, { fits, must }: Rule): void {
  if (!fits(value)) throw new TypeError(`${name} must be ${must}, not ${shown(value)}.`);
}

/** Throws TypeError unless options are an object with known names and valid values. An undefined value counts as absent. */
export function assertOptions<Options extends object>(
  options: Options,
  rules: { [Name in keyof Required<Options>]: Rule },
  what = 'options',
): void {
  assertFits(what, options, { fits: isObject, must: 'an object' });
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name as keyof Options] : undefined;
    if (!rule)
      throw new TypeError(`${what} must not have ${shown(name)}. Allowed: ${Object.keys(rules).join(', ')}.`);
    if (value !== undefined) assertFits(name, value, rule);
  }
}

/** Also works for objects of other realms: some test runners run each test in its own realm. */
const isObject = (value: unknown) => Object.prototype.toString.call(value) === '[object Object]';

/** A value in the form that messages use. */
export const shown = (value: unknown): string =>
  typeof value === 'string' || isObject(value) || Array.isArray(value)
    ? JSON.stringify(value)
    : String(value);
