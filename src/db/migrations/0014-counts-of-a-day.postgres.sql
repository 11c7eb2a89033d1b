-- The resets of a workspace by requests in a day (UTC), and the recorded requests of a key.
alter table workspaces add column resets_day bigint not null default 0;
alter table workspaces add column resets_count bigint not null default 0;
alter table api_keys add column recorded_day bigint not null default 0;
alter table api_keys add column recorded_count bigint not null default 0;
