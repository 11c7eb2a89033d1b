/** A table whose rows belong to a workspace. Its first columns are `workspace_id` and its key within the workspace, one or two columns. */
interface Table {
  name: string;
  /** A reset removes content, restarts its ids and invalidates stored responses. It keeps access to the workspace, and its history. */
  dataKind: 'responses' | 'content' | 'sequences' | 'access' | 'history';
  /** Its rows have ids from 1 in each workspace. `sequences` counts them under the name of the table. */
  hasIds?: true;
  /** The name of the number of its rows in `workspaces list`. Content with ids is always counted, under the table's name. */
  countedAs?: string;
}

/**
 * All tables except `workspaces`, in the order in which a write locks their rows and a workspace is emptied. A new row takes its id, then
 * locks the rows that it refers to: so a referenced table comes after those that refer to it, and after `sequences`. The rows of tables
 * before `sequences` can be removed in batches.
 */
export const tables = [
  { name: 'idempotency_keys', dataKind: 'responses' },
  { name: 'orders', dataKind: 'content', hasIds: true },
  { name: 'pets', dataKind: 'content', hasIds: true },
  { name: 'sequences', dataKind: 'sequences' },
  { name: 'categories', dataKind: 'content', hasIds: true },
  { name: 'limit_accounts', dataKind: 'access' },
  { name: 'ban_starts', dataKind: 'access' },
  { name: 'webhooks', dataKind: 'access', hasIds: true, countedAs: 'webhooks' },
  { name: 'deliveries', dataKind: 'access', hasIds: true },
  { name: 'recordings', dataKind: 'access' },
  { name: 'recorded_requests', dataKind: 'access' },
  { name: 'recording_reports', dataKind: 'access' },
  { name: 'rehearsals', dataKind: 'access' },
  { name: 'rehearsal_progress', dataKind: 'access' },
  { name: 'api_keys', dataKind: 'access', countedAs: 'keys' },
  { name: 'members', dataKind: 'access' },
  { name: 'streams', dataKind: 'access' },
  { name: 'idempotency_hours', dataKind: 'responses' },
  { name: 'events', dataKind: 'history', hasIds: true },
] as const satisfies readonly Table[];

type Declared = (typeof tables)[number];
/** Content with ids. */
export type ContentKind = Extract<Declared, { dataKind: 'content'; hasIds: true }>['name'];
/** The tables whose rows have ids. */
export type RowKind = Extract<Declared, { hasIds: true }>['name'];
/** The names of the counts in `workspaces list`. */
export type Counted = ContentKind | Extract<Declared, { countedAs: string }>['countedAs'];

/** In an order in which rows can be created: a table comes before the tables that refer to it. */
export const rowKinds: readonly RowKind[] = tables
  .flatMap((table) => ('hasIds' in table ? [table.name] : []))
  .reverse();

/** The kinds whose ids a reset restarts at 1. */
export const contentKinds = rowKinds.filter((kind): kind is ContentKind =>
  tables.some(({ name, dataKind }) => name === kind && dataKind === 'content'),
);

/** Such as `categories, pets and orders`. */
export const contentInWords = `${contentKinds.slice(0, -1).join(', ')} and ${contentKinds.at(-1)}`;

const namesOf = (some: readonly Declared[]) => some.map(({ name }) => name);

/** Content, each table before the tables that it refers to. */
export const contentTables = [...contentKinds].reverse();
/** The tables that a reset does not empty. */
export const keptTables = namesOf(tables.filter(({ dataKind }) => dataKind !== 'content'));

const sequencesAt = tables.findIndex(({ dataKind }) => dataKind === 'sequences');
/** Content whose rows a write locks before the sequences. */
export const leafTables = contentTables.filter((name) =>
  namesOf(tables.slice(0, sequencesAt)).includes(name),
);

/** The tables that `workspaces list` counts, and the names of its columns, in order. */
export const counts: readonly (readonly [table: Declared['name'], countedAs: Counted])[] = [
  ...contentKinds.map((kind) => [kind, kind] as const),
  ...tables.flatMap((table) => ('countedAs' in table ? [[table.name, table.countedAs] as const] : [])),
];
