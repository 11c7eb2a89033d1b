/** A table whose rows belong to a workspace. It begins with `workspace_id` and its key within the workspace, one column or two. */
interface Table {
  name: string;
  /** A reset removes content, restarts its ids, and keeps what gives access to the workspace, and its history. */
  holds: 'content' | 'sequences' | 'access' | 'history';
  /** Its rows have ids from 1 in each workspace, counted in `sequences` under its name. */
  givesIds?: true;
  /** What `workspaces list` calls the number of its rows. Content with ids is always counted, under the table's name. */
  countedAs?: string;
}

/**
 * Every table but the workspaces themselves, in the order in which a write locks their rows, and in which a workspace is
 * emptied. On PostgreSQL the transaction locks the workspace before, and the writes of a group lock theirs one after another.
 * A new row takes its id first and then locks the rows that it refers to. So a table to which another refers comes after that
 * one and after `sequences`, and any part of the tables before `sequences` can be removed.
 */
export const tables = [
  { name: 'idempotency_keys', holds: 'content' },
  { name: 'orders', holds: 'content', givesIds: true },
  { name: 'pets', holds: 'content', givesIds: true },
  { name: 'sequences', holds: 'sequences' },
  { name: 'categories', holds: 'content', givesIds: true },
  { name: 'limit_accounts', holds: 'access' },
  { name: 'ban_starts', holds: 'access' },
  { name: 'webhooks', holds: 'access', givesIds: true, countedAs: 'webhooks' },
  { name: 'deliveries', holds: 'access', givesIds: true },
  { name: 'recordings', holds: 'access' },
  { name: 'recorded_requests', holds: 'access' },
  { name: 'rehearsals', holds: 'access' },
  { name: 'rehearsal_progress', holds: 'access' },
  { name: 'api_keys', holds: 'access', countedAs: 'keys' },
  { name: 'streams', holds: 'access' },
  { name: 'events', holds: 'history', givesIds: true },
] as const satisfies readonly Table[];

type Declared = (typeof tables)[number];
type ContentKind = Extract<Declared, { holds: 'content'; givesIds: true }>['name'];
/** The kinds of rows that have ids of their own, which are the names of their tables. */
export type Kind = Extract<Declared, { givesIds: true }>['name'];
/** What `workspaces list` counts. */
export type Counted = ContentKind | Extract<Declared, { countedAs: string }>['countedAs'];

/** In an order in which rows can be created: a table comes before those that refer to it. */
export const kinds: readonly Kind[] = tables
  .flatMap((table) => ('givesIds' in table ? [table.name] : []))
  .reverse();

/** The kinds whose ids a reset restarts at 1. */
export const contentKinds = kinds.filter((kind): kind is ContentKind =>
  tables.some(({ name, holds }) => name === kind && holds === 'content'),
);

const namesOf = (some: readonly Declared[]) => some.map(({ name }) => name);

export const contentTables = namesOf(tables.filter(({ holds }) => holds === 'content'));
/** What a workspace keeps until it is deleted. */
export const keptTables = namesOf(tables.filter(({ holds }) => holds === 'access' || holds === 'history'));

const sequencesAt = tables.findIndex(({ holds }) => holds === 'sequences');
/** Content that no other table refers to. */
export const leafTables = namesOf(tables.slice(0, sequencesAt));

/** Content of which a part can be removed, by its ids. */
export const thinnedTables = leafTables.filter((name) => kinds.some((kind) => kind === name));

/** The tables that `workspaces list` counts, and what it calls their rows, in the order of its columns. */
export const counts: readonly (readonly [table: Declared['name'], countedAs: Counted])[] = [
  ...contentKinds.map((kind) => [kind, kind] as const),
  ...tables.flatMap((table) => ('countedAs' in table ? [[table.name, table.countedAs] as const] : [])),
];
