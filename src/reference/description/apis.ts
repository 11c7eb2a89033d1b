import { accountsOperations } from '../../accounts/operations.ts';
import { plans } from '../../foundation/settings/plans.ts';
import { grouped } from '../../foundation/words.ts';
import type { Operation, Tag } from '../../http/operation.ts';
import { accountsPrefix, errorPagesUrl, labUrlOf, referenceUrl, rootUrlOf } from '../../http/target.ts';
import { faults } from '../../lab/faults/list.ts';
import { labKeptBounds, labQuota } from '../../lab/lab-bounds.ts';
import { labOperations } from '../../lab/petstore/petstore-api.ts';
import { type ApiInfo, describeApi } from './document.ts';
import { type Guide, slugOf } from './guide-names.ts';
import { guides } from './guides.ts';
import type { JsonObject, OpenapiVersion } from './schemas.ts';

/** What a description shows: whether there is a lab, whether responses have the limit headers of the IETF draft, and the version of OpenAPI. */
type Shown = { hasLab?: boolean; hasDraftLimits?: boolean; version?: OpenapiVersion };

/** The description of the store. */
export function describeStore(operations: readonly Operation[], baseUrl: string, shown: Shown = {}) {
  const { hasLab = true } = shown;
  const texts = guides(baseUrl, hasLab);
  const info = {
    title: 'Petstore',
    introduction: introduction(baseUrl, texts),
    guides: texts,
    faults: hasLab ? faults : [],
    errorPages: errorPagesUrl(baseUrl),
    quota: plans.free,
    keptKeys: 'twice as many as its plan has requests per day',
    tags: tagsOf(operations),
  };
  return asShown(describeApi(operations, baseUrl, info, shown.version), shown);
}

/** The groups of operations, in the order of the reference. */
const tags: Record<Tag, { summary: string; description: string }> = {
  Pets: { summary: 'Pets and categories', description: 'Pets and the categories they belong to.' },
  Store: {
    summary: 'Orders, stock and events',
    description: 'Orders for pets, their stock, and the events and webhooks of the workspace.',
  },
  Rehearsals: { summary: 'Faults on demand', description: 'Faults on demand, for your key only.' },
  Recordings: {
    summary: 'Requests and report cards',
    description: 'The requests of your client, their responses, and a report card.',
  },
  Accounts: {
    summary: 'Getting, changing and deleting keys',
    description: 'How you get a key, change its plan or its secret, and delete it.',
  },
  Account: {
    summary: 'Your key and its workspace',
    description: 'The state of your key, and its workspace.',
  },
};

const tagsOf = (operations: readonly Operation[]): ApiInfo['tags'] =>
  Object.entries(tags).flatMap(([name, texts]) =>
    operations.some(({ tag }) => tag === name) ? [{ name, ...texts }] : [],
  );

/** The start page of the reference. */
function introduction(baseUrl: string, guides: Guide[]): string {
  const rootUrl = baseUrl.replace(/\/v1$/, '');
  const [start, getKey, authentication, ...others] = guides.map(
    ({ name }) => `[${name}](${referenceUrl(baseUrl)}/guides/${slugOf(name)})`,
  );
  return `A realistic demo API for people who build SDK generators, gateways, clients and agents. It has exact rate limits, errors that
name the wrong field, and writes that survive a crash. It is a pet store with categories, orders and stock. You can read the history of
all changes as a list, as a stream and as webhooks. Try whatever you like.

1. **Get a key.** The service prints one when it starts. ${getKey} shows other ways, and ${authentication} how to send it.
2. **Send a first request** from your terminal, as in ${start}. Or use the reference: enter the key at the
   top of the page, and press *Try it* on the page of an operation.
3. **Write a robust client.** Read these guides: ${others.join(', ')}.

For generators and other tools, this description is available as [JSON](${baseUrl}/openapi.json) and [YAML](${baseUrl}/openapi.yaml), and
in [OpenAPI 3.1](${baseUrl}/openapi-3.1.json) and [3.2](${baseUrl}/openapi-3.2.json). [AsyncAPI](${baseUrl}/asyncapi.yaml) describes the
stream of events and the webhooks. [llms.txt](${rootUrl}/llms.txt) is an overview for assistants, as plain text. The
[changelog](${rootUrl}/changelog) says what is new.`;
}

/** The description of the lab of an API at `baseUrl`. */
export const describeLab = (baseUrl: string, shown: Shown = {}): JsonObject =>
  asShown(describeApi(labOperations, labUrlOf(baseUrl), labInfo(baseUrl), shown.version), shown);

/** The description of the accounts of a service whose API is at `baseUrl`. No path may be empty, so all begin with the prefix. */
export function describeAccounts(baseUrl: string, shown: Shown = {}): JsonObject {
  const whole = accountsOperations.map(({ path, ...rest }) => ({ ...rest, path: accountsPrefix + path }));
  return asShown(describeApi(whole, rootUrlOf(baseUrl), accountsInfo(baseUrl), shown.version), shown);
}

const draftHeaders = ['RateLimit', 'RateLimit-Policy', 'RateLimitPolicy'];

/** A description, if need be without the headers of the draft, and their components. */
function asShown(description: JsonObject, { hasDraftLimits = true }: Shown): JsonObject {
  if (hasDraftLimits) return description;
  return JSON.parse(JSON.stringify(description), (name, value) =>
    draftHeaders.includes(name) ? undefined : value,
  );
}

const labInfo = (baseUrl: string): ApiInfo => ({
  title: 'Petstore lab',
  introduction: `The lab tests your client. A **rehearsal** makes the API at ${baseUrl} perform faults for your key only: limits, bans,
failures, broken connections. A **recording** stores the requests of your client and their responses. Its report card says what the
client does well, and what you must fix.

The lab takes the API keys of the API. Requests to the lab do not count against the limits of a key. They have their own limit:
${labQuota.perMinute} a minute. [Rehearse failures](${referenceUrl(baseUrl)}/guides/rehearse-failures) shows each fault with an example.`,
  guides: [],
  faults: [],
  errorPages: errorPagesUrl(baseUrl),
  quota: labQuota,
  keptKeys: `${grouped(labKeptBounds.keys)} for the lab`,
  tags: tagsOf(labOperations),
});

const accountsInfo = (baseUrl: string): ApiInfo => ({
  title: 'Petstore accounts',
  introduction: `How you get an API key for the API at ${baseUrl}, change its plan or secret, and delete it. With an invite, or if the
service is open to everybody, you need no key to begin with.

Requests to this API do not count against the limits of a key. They have their own limit: ${labQuota.perMinute} a minute.`,
  guides: [],
  faults: [],
  errorPages: errorPagesUrl(baseUrl),
  quota: labQuota,
  keptKeys: `${grouped(labKeptBounds.keys)} for accounts`,
  tags: tagsOf(accountsOperations),
});
