-- What happened in a workspace, in the order of commits. data and previous are JSON.
create table events (
  workspace_id integer not null,
  id integer not null,
  type text not null,
  created_at_ms integer not null,
  request_id text,
  data text not null,
  previous text,
  primary key (workspace_id, id)
) strict, without rowid;

-- What was there before has no event for each row, so that a history begins with one for all of it.
insert into sequences (workspace_id, kind, last_id) select id, 'events', 1 from workspaces;

insert into events (workspace_id, id, type, created_at_ms, data)
select id, 1, 'workspace.seeded', created_at_ms, '{}' from workspaces;

-- Streams that are open now. An instance removes its own; those of one that has died are no longer seen.
create table streams (
  workspace_id integer not null,
  id text not null,
  key_id text not null,
  instance text not null,
  opened_at_ms integer not null,
  seen_at_ms integer not null,
  primary key (workspace_id, id)
) strict, without rowid;

create index streams_by_key on streams (workspace_id, key_id, opened_at_ms);
create index streams_by_instance on streams (instance);
create index streams_by_age on streams (seen_at_ms);
