-- How often requests have reset a workspace in a day (UTC), and how many requests of a key were recorded in one.
alter table workspaces add column resets_day integer not null default 0;
alter table workspaces add column resets_count integer not null default 0;
alter table api_keys add column recorded_day integer not null default 0;
alter table api_keys add column recorded_count integer not null default 0;
