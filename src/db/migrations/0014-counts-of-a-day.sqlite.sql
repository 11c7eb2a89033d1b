-- The resets of a workspace by requests in a day (UTC), and the recorded requests of a key.
alter table workspaces add column resets_day integer not null default 0;
alter table workspaces add column resets_count integer not null default 0;
alter table api_keys add column recorded_day integer not null default 0;
alter table api_keys add column recorded_count integer not null default 0;
