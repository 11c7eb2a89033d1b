-- How often a workspace was reset.
alter table workspaces add column resets integer not null default 0;

-- How often the workspace had been reset when the answer was kept. One more reset makes the answer void. Null: no reset does.
alter table idempotency_keys add column resets integer;

-- How many Idempotency-Keys of an API key were kept in an hour (since 1970), and their bytes. account names the API and the key.
create table idempotency_hours (
  workspace_id integer not null,
  account text not null,
  hour integer not null,
  kept integer not null,
  bytes integer not null,
  primary key (workspace_id, account, hour)
) strict, without rowid;

create index idempotency_hours_by_age on idempotency_hours (hour);
