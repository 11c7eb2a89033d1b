import { connectTo } from '../../client/connect.ts';
import {
  createLab,
  createPetstore,
  type Lab,
  type List,
  type Petstore,
  PetstoreError,
} from '../../client/index.ts';
import { labPrefix, prefix } from '../../http/target.ts';

/** A running service, and a key for it. */
export interface ServiceAccess {
  /** The address of the API, without a slash at the end. */
  baseUrl: string;
  key: string;
  /** The option or setting that the user changes if the address is wrong. */
  addressSetBy?: string;
  signal?: AbortSignal;
}

/** Clients of both APIs of a service. */
export interface Clients {
  store: Petstore;
  lab: Lab;
  /** Any list of the API by its path, such as `/pets`. */
  listAt(path: string): List<object>;
}

const maxAnswerBytes = 64 * 1024 * 1024;

/** Runs work with clients of a running service. Its errors say what the user can do. */
export const withService = <T>(access: ServiceAccess, work: (clients: Clients) => Promise<T>): Promise<T> =>
  explaining(access, (options) =>
    work({
      store: createPetstore(options),
      lab: createLab({ ...options, baseUrl: originOf(access) + prefix }),
      listAt: (path) =>
        connectTo<{ list(): List<object> }>(options, access.baseUrl, { list: `GET ${path} list` }).list(),
    }),
  );

/** Throws if there is no service with a lab. Needs no valid key. */
export async function assertLab(access: Omit<ServiceAccess, 'key'>): Promise<void> {
  await explaining({ ...access, key: 'none' }, (options) =>
    connectTo<{ describe(): Promise<object> }>(options, labUrlOfService(access), {
      describe: 'GET /openapi.json',
    }).describe(),
  );
}

const originOf = ({ baseUrl }: Pick<ServiceAccess, 'baseUrl'>) => baseUrl.replace(/\/v1$/, '');

/** The address of the lab of a service, also if `baseUrl` lacks its `/v1`. */
export const labUrlOfService = (access: Pick<ServiceAccess, 'baseUrl'>) => originOf(access) + labPrefix;

/** Calls `work` with the options of a client that sends each request once. Explains its errors to the user. */
async function explaining<T>(
  access: ServiceAccess,
  work: (options: Parameters<typeof createPetstore>[0]) => Promise<T>,
): Promise<T> {
  const { baseUrl, signal } = access;
  const key = access.key.trim();
  if (!/^[!-~]+$/.test(key))
    throw new Error(
      `The API key is malformed. It may be mistyped or incomplete. It is not a key of the service at ${baseUrl}.`,
    );
  let failedUrl = baseUrl;
  const send: typeof fetch = async (url, init) => {
    const signals = [init?.signal, signal].filter((one) => one != null);
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    if (!response.ok) failedUrl = String(url);
    return response;
  };
  try {
    return await work({ baseUrl, apiKey: key, attempts: 1, maxAnswerBytes, fetch: send });
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error;
    signal?.throwIfAborted();
    throw new Error(explanationOf(error, access, failedUrl), { cause: error });
  }
}

/** What a user can do about a failed request. */
function explanationOf(error: PetstoreError, access: ServiceAccess, url: string): string {
  const { baseUrl, addressSetBy } = access;
  const { status, code } = error;
  const reason = unreachableBecause(error);
  if (reason !== undefined)
    return `${baseUrl} cannot be reached (${reason}). Is the service running?${addressSetBy ? ` ${addressSetBy} sets its address.` : ''}`;
  const message = messageOf(error);
  // With a lab, the URL of one rehearsal or recording may return 404, too.
  if (status === 404 && !(message && /\/lab\/(?:rehearsals|recordings)\/./.test(url)))
    return `There is no lab at ${labUrlOfService(access)}. Start the service with PETSTORE_LAB=on.`;
  if (status === 401 && message) return `${message} It is not a key of the service at ${baseUrl}.`;
  if (message) return message;
  return code === 'unexpected_answer' && status !== undefined && status >= 300
    ? `${url} returned ${status}.`
    : error.message;
}

/** Why a service counts as unreachable: no complete response arrived in time, or the response is too long. */
function unreachableBecause(error: PetstoreError): string | undefined {
  if (error.cause instanceof SyntaxError) return undefined;
  if (error.code === 'no_answer') return fetchFailureReason(error.cause);
  if (error.code === 'timed_out') return 'The operation was aborted due to timeout';
  const [, bytes] = /It has more than (\d+) bytes\.$/.exec(error.message) ?? [];
  return bytes && `its response is longer than ${bytes} bytes`;
}

/** The message of an error response of the API. Undefined for other responses. */
export function messageOf({ details }: PetstoreError): string | undefined {
  return typeof details?.message === 'string' ? details.message : undefined;
}

/** The reason of a failed `fetch`, from the cause of its error. */
export function fetchFailureReason(error: unknown): string {
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? message;
}
