-- The request that began the last ban of a key that is known. path has no query.
create table ban_starts (
  workspace_id integer not null,
  key_id text not null,
  began_at_ms integer not null,
  request_id text not null,
  method text not null,
  path text not null,
  primary key (workspace_id, key_id)
) strict, without rowid;
