/** Version of the interface, as the description tells it. */
export const version = '1.0.0';
