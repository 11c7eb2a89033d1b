-- Events that were no longer kept when an enabled webhook came to them: how many in all, the last of them, and when that was noticed.
alter table webhooks add column missed_count integer not null default 0;
alter table webhooks add column missed_last_id integer;
alter table webhooks add column missed_at_ms integer;

-- Of a message that tells of such events: the first of them. The last one is in event_id.
alter table deliveries add column missed_from integer;
