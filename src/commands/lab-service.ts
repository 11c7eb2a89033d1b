import { labPrefix } from '../http/target.ts';
import { type Client, reasonOf } from './client.ts';

/** Asks the lab of a running service. Throws what its user can do about a failure. */
export class LabService {
  readonly #client: Client;
  readonly #url: string;

  constructor(client: Client) {
    this.#client = client;
    this.#url = client.baseUrl.replace(/\/v1$/, '') + labPrefix;
  }

  /** The answer, from JSON. */
  async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    return JSON.parse(await this.text(method, path, body));
  }

  /** The answer as it is. */
  async text(method: string, path: string, body?: unknown): Promise<string> {
    const response = await this.#ask(method, path, body);
    const text = await response.text();
    if (response.ok) return text;
    if (response.status === 404) {
      throw new Error(
        `There is no lab at ${this.#url}. The service has one if it runs with PETSTORE_LAB=on.`,
      );
    }
    const message = messageIn(text) ?? `The answer of ${this.#url}${path} is ${response.status}.`;
    throw new Error(
      response.status === 401 ? `${message} The service at ${this.#client.baseUrl} has other keys.` : message,
    );
  }

  async #ask(method: string, path: string, body: unknown): Promise<Response> {
    try {
      return await fetch(this.#url + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#client.key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
      });
    } catch (error) {
      throw new Error(
        `${this.#client.baseUrl} cannot be reached (${reasonOf(error)}). Is the service running? --url says where.`,
        { cause: error },
      );
    }
  }
}

function messageIn(text: string): string | undefined {
  try {
    return JSON.parse(text).message;
  } catch {
    return undefined;
  }
}
