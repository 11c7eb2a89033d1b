-- What is counted of each key, and of each address (workspace 0) that comes without a valid key.
create table limit_accounts (
  workspace_id bigint not null,
  id text not null,
  minute bigint not null,
  minute_count bigint not null,
  day bigint not null,
  day_count bigint not null,
  strikes bigint not null,
  bans bigint not null,
  banned_at_ms bigint not null,
  banned_until_ms bigint not null,
  primary key (workspace_id, id)
);

create index limit_accounts_by_day on limit_accounts (day);

-- Bans of a key that began until then are void.
alter table api_keys add column pardoned_at_ms bigint;
