/** A table whose rows belong to a workspace. Its first columns are `workspace_id` and its key within the workspace, one or two columns. */
interface Table {
  name: string;
  /** A reset removes content, restarts its ids and invalidates stored responses. It keeps access to the workspace, and its history. */
  holds: 'answers' | 'content' | 'sequences' | 'access' | 'history';
  /** Its rows have ids from 1 in each workspace. `sequences` counts them under the name of the table. */
  givesIds?: true;
  /** What `workspaces list` calls the number of its rows. Content with ids is always counted, under the table's name. */
  countedAs?: string;
}

/**
 * All tables except `workspaces`, in the order in which a write locks their rows and in which a workspace is emptied. On
 * PostgreSQL the transaction locks the workspace first, and the writes of a group lock their rows one after another. A new row
 * takes its id and then locks the rows that it refers to. So a referenced table comes after the tables that refer to it, and
 * after `sequences`. The rows of tables before `sequences` can be removed in batches.
 */
export const tables = [
  { name: 'idempotency_keys', holds: 'answers' },
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
  { name: 'recording_reports', holds: 'access' },
  { name: 'rehearsals', holds: 'access' },
  { name: 'rehearsal_progress', holds: 'access' },
  { name: 'api_keys', holds: 'access', countedAs: 'keys' },
  { name: 'streams', holds: 'access' },
  { name: 'idempotency_hours', holds: 'answers' },
  { name: 'events', holds: 'history', givesIds: true },
] as const satisfies readonly Table[];

type Declared = (typeof tables)[number];
/** Content with ids. */
export type ContentKind = Extract<Declared, { holds: 'content'; givesIds: true }>['name'];
/** The tables whose rows have ids. */
export type Kind = Extract<Declared, { givesIds: true }>['name'];
/** What `workspaces list` counts. */
export type Counted = ContentKind | Extract<Declared, { countedAs: string }>['countedAs'];

/** In an order in which rows can be created: a table comes before the tables that refer to it. */
export const kinds: readonly Kind[] = tables
  .flatMap((table) => ('givesIds' in table ? [table.name] : []))
  .reverse();

/** The kinds whose ids a reset restarts at 1. */
export const contentKinds = kinds.filter((kind): kind is ContentKind =>
  tables.some(({ name, holds }) => name === kind && holds === 'content'),
);

/** Such as `categories, pets and orders`. */
export const contentInWords = `${contentKinds.slice(0, -1).join(', ')} and ${contentKinds.at(-1)}`;

const namesOf = (some: readonly Declared[]) => some.map(({ name }) => name);

/** Content, each table before the tables that it refers to. */
export const contentTables = [...contentKinds].reverse();
/** The tables that a reset does not empty. */
export const keptTables = namesOf(tables.filter(({ holds }) => holds !== 'content'));

const sequencesAt = tables.findIndex(({ holds }) => holds === 'sequences');
/** Content whose rows a write locks before the sequences. */
export const leafTables = contentTables.filter((name) =>
  namesOf(tables.slice(0, sequencesAt)).includes(name),
);

/** The tables that `workspaces list` counts, and the names of its columns, in order. */
export const counts: readonly (readonly [table: Declared['name'], countedAs: Counted])[] = [
  ...contentKinds.map((kind) => [kind, kind] as const),
  ...tables.flatMap((table) => ('countedAs' in table ? [[table.name, table.countedAs] as const] : [])),
];
