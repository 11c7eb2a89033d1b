-- What is counted of each key, and of each address (workspace 0) that comes without a valid key.
create table limit_accounts (
  workspace_id integer not null,
  id text not null,
  minute integer not null,
  minute_count integer not null,
  day integer not null,
  day_count integer not null,
  strikes integer not null,
  bans integer not null,
  banned_at_ms integer not null,
  banned_until_ms integer not null,
  primary key (workspace_id, id)
) strict, without rowid;

create index limit_accounts_by_day on limit_accounts (day);

-- Bans of a key that began until then are void.
alter table api_keys add column pardoned_at_ms integer;
