-- Addresses to which the events of a workspace are sent. types is a JSON array; null means all. position is the id of the last
-- event that was sent or left out. Of the secrets only what they are derived from is kept here.
create table webhooks (
  workspace_id integer not null,
  id integer not null,
  url text not null,
  types text,
  description text,
  enabled integer not null check (enabled in (0, 1)),
  disabled_reason text,
  created_at_ms integer not null,
  salt text not null,
  previous_salt text,
  previous_until_ms integer,
  position integer not null,
  failing_since_ms integer,
  lease_owner text,
  lease_until_ms integer not null,
  primary key (workspace_id, id)
) strict, without rowid;

create index webhooks_enabled on webhooks (enabled, workspace_id, id);

-- What was sent to a webhook, or will be. attempts is a JSON array. Of a pending one next_attempt_at_ms says when it is due; 0 is
-- at once, before all others. failures counts those of its present series of attempts.
create table deliveries (
  workspace_id integer not null,
  id integer not null,
  webhook_id integer not null,
  message_id text not null,
  event_id integer,
  type text not null,
  state text not null check (state = 'pending' or state = 'delivered' or state = 'failed'),
  attempts text not null,
  failures integer not null,
  series integer not null,
  next_attempt_at_ms integer,
  created_at_ms integer not null,
  primary key (workspace_id, id)
) strict, without rowid;

create index deliveries_by_webhook on deliveries (workspace_id, webhook_id, id);
create index deliveries_by_state on deliveries (workspace_id, webhook_id, state, id);
create index deliveries_due on deliveries (workspace_id, webhook_id, next_attempt_at_ms)
  where next_attempt_at_ms is not null;
