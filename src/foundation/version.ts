/** Version of the interface, as in the description. */
export const version = '1.0.0';
