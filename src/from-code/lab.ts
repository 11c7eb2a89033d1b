import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { labPrefix } from '../http/target.ts';
import type { RecordedRequest } from '../lab/recordings/schema.ts';
import type { FaultName, ParametersOf } from '../lab/rehearsals/faults.ts';
import type { Rehearsal as RehearsalState, RehearsedFault } from '../lab/rehearsals/schema.ts';
import type { Report } from '../lab/report/report.ts';
import { nextQuery } from '../lab-service.ts';
import { StoppedError } from './control.ts';

/** A fault to perform, with its parameters; see the guide "Rehearse failures". */
export type FaultPlan = {
  [Name in FaultName]: {
    fault: Name;
    /** The only operation that it is for, by its operationId, such as `placeOrder`. Without it, every one that it fits. */
    operation?: string;
    /** How many requests of an operation pass first; 0 by default. A condition takes none. */
    after?: number;
    /** How often it is performed on requests of an operation; 1 by default. A condition takes none. */
    times?: number;
  } & ParametersOf<Name>;
}[FaultName];

export interface RehearseOptions {
  /** When it ends by itself, by the clock of the store; 600 by default, at most a day. */
  expiresInSeconds?: number;
  /** The key whose requests meet the faults; that of the first workspace by default. */
  key?: string;
}

export interface RecordOptions {
  /** What the recording is called. */
  name?: string;
  /** When it ends by itself, by the clock of the store; 600 by default, at most a day. */
  expiresInSeconds?: number;
  /** The key whose requests are kept; that of the first workspace by default. */
  key?: string;
}

/** Faults that a store performs for a key, until it ends, expires, or another of the key begins. */
export interface Rehearsal extends AsyncDisposable {
  readonly id: string;
  /** How often a fault was performed, or all of them together; of a condition, how many answers it has touched. */
  performed(fault?: FaultName): Promise<number>;
  /** Its faults in their order, each with how often it was performed and still will be. */
  faults(): Promise<RehearsedFault[]>;
  /** Ends it. What was performed can still be read. Does nothing if it is over. */
  end(): Promise<void>;
}

/** What the client of a key sends, and what comes of it, from the beginning of the recording until its end. */
export interface Recording extends AsyncDisposable {
  readonly id: string;
  /** What was kept until now, in the order in which the requests ended; 5,000 at most. */
  requests(): Promise<RecordedRequest[]>;
  /** Judges what was kept until now. Read it when the client has ended. */
  report(): Promise<Report>;
  /** The same as a text for people, or for CI systems. */
  report(form: 'markdown' | 'junit'): Promise<string>;
  /** Ends it. What was kept can still be read. Does nothing if it is over. */
  end(): Promise<void>;
}

/** The lab refuses what was asked. Its message says why. */
class LabError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What answers requests without a connection. Throws StoppedError when it no longer can. */
export interface App {
  inject(request: InjectOptions): Promise<LightMyRequestResponse>;
}

/** Begins a rehearsal. Rejects with a message that names the fault that does not fit. */
export async function rehearse(
  app: App,
  faults: readonly FaultPlan[],
  { key, expiresInSeconds }: RehearseOptions & { key: string },
): Promise<Rehearsal> {
  const lab = new Lab(app, key);
  const { id } = await lab.json<RehearsalState>('POST', '/rehearsals', { faults, expiresInSeconds });
  const read = async () => (await lab.json<RehearsalState>('GET', `/rehearsals/${id}`)).faults;
  const end = () => lab.end('DELETE', `/rehearsals/${id}`);
  return {
    id,
    faults: read,
    async performed(name) {
      const counted = (await read()).filter(({ fault }) => name === undefined || fault === name);
      return counted.reduce((sum, { performed }) => sum + performed, 0);
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}

/** Begins a recording. */
export async function record(
  app: App,
  { key, ...asked }: RecordOptions & { key: string },
): Promise<Recording> {
  const lab = new Lab(app, key);
  const { id } = await lab.json<{ id: string }>('POST', '/recordings', asked);
  const path = `/recordings/${id}`;
  const end = () => lab.end('POST', `${path}/end`);
  return {
    id,
    requests: () => lab.all(`${path}/requests`),
    // One text or the other, as the overloads say.
    report: ((form?: string) =>
      form === undefined
        ? lab.json('GET', `${path}/report`)
        : lab.text('GET', `${path}/report/${form}`)) as Recording['report'],
    end,
    [Symbol.asyncDispose]: end,
  };
}

/** Asks the lab of this process with a key, without a connection. */
class Lab {
  readonly #app: App;
  readonly #key: string;

  constructor(app: App, key: string) {
    this.#app = app;
    this.#key = key;
  }

  async json<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    return JSON.parse(await this.text(method, path, body));
  }

  async text(method: 'GET' | 'POST', path: string, body?: object): Promise<string> {
    return (await this.#ask(method, path, body)).body;
  }

  /** The items of a list, of all its pages. */
  async all<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    for (let query: string | undefined = '?limit=100'; query !== undefined; ) {
      const { body, headers }: Asked = await this.#ask('GET', path + query);
      items.push(...JSON.parse(body));
      query = nextQuery(String(headers.link));
    }
    return items;
  }

  /** Ends a rehearsal or a recording, which a reset or a stop may have ended before. */
  async end(method: 'POST' | 'DELETE', path: string): Promise<void> {
    await this.#ask(method, path).catch((error) => {
      const isGone = error instanceof StoppedError || (error instanceof LabError && error.status === 404);
      if (!isGone) throw error;
    });
  }

  async #ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Asked> {
    const answer: Asked = await this.#app.inject({
      method,
      url: labPrefix + path,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { payload: JSON.stringify(body) }),
    });
    if (answer.statusCode < 400) return answer;
    throw new LabError(answer.statusCode, JSON.parse(answer.body).message);
  }
}

type Asked = LightMyRequestResponse;
