-- The directory: who may come in. Workspace ids are never used twice.
create table workspaces (
  id integer primary key autoincrement,
  name text not null unique,
  created_at_ms integer not null
) strict;

create table api_keys (
  workspace_id integer not null references workspaces (id),
  id text not null,
  hash text not null unique,
  plan text not null,
  per_minute integer,
  per_day integer,
  label text,
  created_at_ms integer not null,
  revoked_at_ms integer,
  primary key (workspace_id, id)
) strict, without rowid;

-- The last id given out for each kind of row in a workspace. A workspace that is gone has no rows here.
create table sequences (
  workspace_id integer not null references workspaces (id),
  kind text not null,
  last_id integer not null check (last_id between 0 and 9007199254740991),
  primary key (workspace_id, kind)
) strict, without rowid;

create table categories (
  workspace_id integer not null,
  id integer not null,
  name text not null,
  description text,
  primary key (workspace_id, id)
) strict, without rowid;

-- A pet and its inventory entry are one row: they are born, change status and die together. For `in` with three values
-- SQLite would make a table at each insert.
create table pets (
  workspace_id integer not null,
  id integer not null,
  name text not null,
  category_id integer not null,
  status text not null check (status = 'available' or status = 'pending' or status = 'sold'),
  stock integer not null check (stock between 0 and 2147483647),
  primary key (workspace_id, id),
  foreign key (workspace_id, category_id) references categories (workspace_id, id)
) strict, without rowid;

create index pets_by_status on pets (workspace_id, status, id);
create index pets_by_category on pets (workspace_id, category_id, id);
create index pets_by_category_and_status on pets (workspace_id, category_id, status, id);

-- complete is 0 or 1. A complete order may outlive its pet.
create table orders (
  workspace_id integer not null,
  id integer not null,
  pet_id integer,
  quantity integer not null check (quantity between 1 and 2147483647),
  ship_date text,
  complete integer not null check (complete in (0, 1)),
  primary key (workspace_id, id)
) strict, without rowid;

create index orders_by_complete on orders (workspace_id, complete, id);
create index orders_by_pet on orders (workspace_id, pet_id, id);
create index orders_by_pet_and_complete on orders (workspace_id, pet_id, complete, id);

-- The first answer to each Idempotency-Key. headers and body are JSON.
create table idempotency_keys (
  workspace_id integer not null,
  key text not null,
  fingerprint text not null,
  status integer,
  headers text,
  body text,
  created_at_ms integer not null,
  primary key (workspace_id, key)
) strict, without rowid;

create index idempotency_keys_by_age on idempotency_keys (created_at_ms);
