/** The documents of the three versions of OpenAPI. */
export const openapiDocuments = ['openapi.json', 'openapi-3.1.json', 'openapi-3.2.json'] as const;

/** What a client has read after it added the pet Ada to a fresh demo, read the pets 1 and Ada, the new event, and order 9999. */
export const tour = {
  names: ['Bella', 'Ada'],
  events: [['pet.created', 'Ada']],
  code: 'not_found',
};

export const tourAsserts = 'It creates a pet, lists pets and events, and reads the code of an error.';
