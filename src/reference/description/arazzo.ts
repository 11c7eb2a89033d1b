import { version } from '../../foundation/version.ts';
import { labUrlOf } from '../../http/target.ts';
import type { Json, JsonObject } from './schemas.ts';

const document = (
  title: string,
  summary: string,
  sources: Record<string, string>,
  workflows: JsonObject[],
): JsonObject => ({
  arazzo: '1.0.1',
  info: {
    title,
    version,
    summary,
    description: 'Each workflow needs an API key of a workspace with the demo data.',
  },
  sourceDescriptions: Object.entries(sources).map(([name, url]) => ({ name, type: 'openapi', url })),
  workflows,
});

const storeAt = (baseUrl: string) => ({ store: `${baseUrl}/openapi-3.1.json` });

/**
 * The Arazzo 1.0.1 document of the store: what a good client does, as workflows that tools run. It has one source, so its steps name
 * operations by plain ids, which every runner finds.
 */
export const describeWorkflows = (baseUrl: string): JsonObject =>
  document(
    'Petstore workflows',
    'What a good client does, as workflows that run.',
    storeAt(baseUrl),
    workflows,
  );

/** The same with failures that the lab performs. With two sources, steps must name that of each operation. */
export const describeRehearsedWorkflows = (baseUrl: string): JsonObject =>
  document(
    'Petstore workflows with failures',
    'What a good client does when the service fails. The lab performs the failures, for this key only.',
    { ...storeAt(baseUrl), lab: `${labUrlOf(baseUrl)}/openapi-3.1.json` },
    rehearsed,
  );

const workflow = (
  workflowId: string,
  summary: string,
  description: string,
  steps: JsonObject[],
  inputs: JsonObject = {},
): JsonObject => ({
  workflowId,
  summary,
  description,
  inputs: {
    type: 'object',
    required: ['key'],
    properties: { key: { type: 'string', description: 'An API key.' }, ...inputs },
  },
  steps,
});

interface Details {
  path?: Record<string, Json>;
  query?: Record<string, Json>;
  header?: Record<string, Json>;
  body?: JsonObject;
  /** The expected status; by default 200. */
  status?: number;
  criteria?: string[];
  /** Regular expressions, by the expression that they are matched against. */
  patterns?: Record<string, string>;
  outputs?: JsonObject;
  /** The step that follows, if it is not the next one. */
  onSuccess?: JsonObject[];
  /** When it is sent again, and how often. */
  onFailure?: JsonObject;
}

function step(stepId: string, operation: string, description: string, details: Details): JsonObject {
  const { path = {}, query = {}, header = {}, body, status = 200, criteria = [], patterns = {} } = details;
  const { outputs, onSuccess, onFailure } = details;
  const allHeaders = { 'X-API-Key': '$inputs.key', ...header };
  const parameters = Object.entries({ path, query, header: allHeaders }).flatMap(([place, values]) =>
    Object.entries(values).map(([name, value]) => ({ name, in: place, value })),
  );
  return {
    stepId,
    description,
    operationId: operation,
    parameters,
    ...(body && { requestBody: { contentType: 'application/json', payload: body } }),
    successCriteria: [
      ...[`$statusCode == ${status}`, ...criteria].map((condition) => ({ condition })),
      ...Object.entries(patterns).map(([context, condition]) => ({ context, condition, type: 'regex' })),
    ],
    ...(onSuccess && { onSuccess }),
    ...(onFailure && { onFailure: [{ name: 'again', type: 'retry', ...onFailure }] }),
    ...(outputs && { outputs }),
  };
}

const from = (source: 'store' | 'lab', id: string) => `$sourceDescriptions.${source}.${id}`;

const rehearse = (fault: JsonObject) =>
  step('rehearse', from('lab', 'startRehearsal'), 'Let the service perform a failure for this key, once.', {
    body: { faults: [fault] },
    status: 201,
    outputs: { rehearsalId: '$response.body#/id' },
  });

const performed = step('performed', from('lab', 'getRehearsal'), 'The failure was performed.', {
  path: { rehearsalId: '$steps.rehearse.outputs.rehearsalId' },
  criteria: ['$response.body#/faults/0/performed == 1'],
});

/** Workflows with a failure that the lab performs. */
const rehearsed: JsonObject[] = [
  workflow(
    'limited',
    'Wait when the limit is used up, and continue',
    'After 429 the client waits as long as `Retry-After` says. Then it succeeds.',
    [
      rehearse({ fault: 'rate-limited', operation: 'listPets', retryAfterSeconds: 1 }),
      step(
        'list',
        from('store', 'listPets'),
        'The first response is 429. Wait for `Retry-After`, and retry.',
        {
          onFailure: { retryAfter: 1, retryLimit: 3, criteria: [{ condition: '$statusCode == 429' }] },
        },
      ),
      performed,
    ],
  ),
  workflow(
    'lostAnswer',
    'Retry a request whose response was lost',
    'The connection breaks after the order is placed. The same `Idempotency-Key` makes it safe to send the request again.',
    [
      rehearse({ fault: 'lost-answer', operation: 'placeOrder' }),
      step(
        'order',
        from('store', 'placeOrder'),
        'The order is placed, but the response does not arrive. A retry with the same `Idempotency-Key` gets the first response, and places no second order.',
        {
          header: { 'Idempotency-Key': 'order-{$steps.rehearse.outputs.rehearsalId}' },
          body: { petId: 1, quantity: 1 },
          status: 201,
          criteria: ["$response.header.Idempotency-Replayed == 'true'"],
          onFailure: { retryAfter: 1, retryLimit: 3 },
        },
      ),
      performed,
    ],
  ),
];

/** Workflows of the store alone. */
const workflows: JsonObject[] = [
  workflow(
    'firstOrder',
    'Order a pet, and fulfil the order',
    'Finds a pet in stock, orders one, fulfils the order, and reads the result.',
    [
      step('find', 'listPets', 'Find a pet that is in stock.', {
        query: { status: 'available', limit: 1 },
        outputs: { petId: '$response.body#/0/id' },
      }),
      step('order', 'placeOrder', 'Order one.', {
        body: { petId: '$steps.find.outputs.petId', quantity: 1 },
        status: 201,
        outputs: { orderId: '$response.body#/id' },
      }),
      step('fulfil', 'updateOrder', 'Fulfil the order.', {
        path: { orderId: '$steps.order.outputs.orderId' },
        body: { complete: true },
        // One runner compares true with the text "true", so not `== true`.
        criteria: ['$response.body#/complete != false'],
      }),
      step('read', 'getOrder', 'Read it again.', {
        path: { orderId: '$steps.order.outputs.orderId' },
        criteria: ['$response.body#/petId == $steps.find.outputs.petId', '$response.body#/complete != false'],
      }),
    ],
  ),
  workflow(
    'conditionalUpdate',
    'Change a pet only if nobody else has changed it',
    '`If-Match` names the state that the client has seen. The service refuses the change if the pet is in another state.',
    [
      step('read', 'listPets', 'Read the pet and its entity tag.', {
        query: { id: 1 },
        outputs: { etag: '$response.header.ETag' },
      }),
      step('change', 'updatePet', 'Change it, if it is still the same.', {
        path: { petId: 1 },
        header: { 'If-Match': '$steps.read.outputs.etag' },
        body: { name: 'Bella the Second' },
        criteria: ["$response.body#/name == 'Bella the Second'"],
        outputs: { etag: '$response.header.ETag' },
      }),
      step('refused', 'updatePet', 'The tag is old now, so a second change with it is refused.', {
        path: { petId: 1 },
        header: { 'If-Match': '$steps.read.outputs.etag' },
        body: { name: 'Bella the Third' },
        status: 412,
        criteria: ["$response.body#/code == 'precondition_failed'"],
      }),
      step('restore', 'updatePet', 'With the new tag the change succeeds.', {
        path: { petId: 1 },
        header: { 'If-Match': '$steps.change.outputs.etag' },
        body: { name: 'Bella' },
        criteria: ["$response.body#/name == 'Bella'"],
      }),
    ],
  ),
  workflow(
    'allPages',
    'Read all pages of the history',
    '`Last-Event-ID` says where the next page begins. `Link` says whether there is a next page.',
    [
      step(
        'page',
        'listEvents',
        'Read the page after a position. Without a link to the next page it is the last one.',
        {
          query: { after: '$inputs.after', limit: 5 },
          outputs: { position: '$response.header.Last-Event-ID' },
          onSuccess: [
            { name: 'last', type: 'end', criteria: [{ condition: '$response.header.Link == null' }] },
          ],
        },
      ),
      {
        stepId: 'rest',
        description: 'Read the pages after it in the same way.',
        workflowId: 'allPages',
        parameters: [
          { name: 'key', value: '$inputs.key' },
          { name: 'after', value: '$steps.page.outputs.position' },
        ],
      },
    ],
    { after: { type: 'integer', default: 0, description: 'The position after which it begins.' } },
  ),
  workflow(
    'deprecation',
    'Follow a deprecation to its successor',
    'The responses of a deprecated operation name its successor.',
    [
      step('old', 'getPet', 'The response has the dates of deprecation and sunset, and the successor.', {
        path: { petId: 1 },
        patterns: {
          '$response.header.Deprecation': '^@[0-9]+$',
          '$response.header.Sunset': ' GMT$',
          '$response.header.Link': 'rel="successor-version"',
        },
        outputs: { etag: '$response.header.ETag' },
      }),
      step('successor', 'listPets', 'The successor returns the same pet, with the same entity tag.', {
        query: { id: 1 },
        criteria: ['$response.body#/0/id == 1', '$response.header.ETag == $steps.old.outputs.etag'],
      }),
    ],
  ),
];
