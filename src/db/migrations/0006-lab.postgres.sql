-- The last rehearsal and the last recording of a key, which a request finds with its key.
alter table api_keys add column rehearsal_id text;
alter table api_keys add column recording_id text;

-- Faults that a key has asked for. faults is a JSON array, as it was asked for.
create table rehearsals (
  workspace_id bigint not null,
  id text not null,
  key_id text not null,
  faults text not null,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  ended_at_ms bigint,
  primary key (workspace_id, id)
);

create index rehearsals_by_key on rehearsals (workspace_id, key_id, created_at_ms);
create index rehearsals_by_expiry on rehearsals (expires_at_ms);

-- state is JSON: how often each fault was performed, on requests of an operation, or of the whole key where operation is ''.
create table rehearsal_progress (
  workspace_id bigint not null,
  rehearsal_id text not null,
  operation text not null,
  state text not null,
  primary key (workspace_id, rehearsal_id, operation)
);

-- What a key's client sent and got while it was recorded. size is how many characters of it are kept; left_out counts requests for
-- which there was no room.
create table recordings (
  workspace_id bigint not null,
  id text not null,
  key_id text not null,
  name text not null,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  ended_at_ms bigint,
  kept bigint not null,
  size bigint not null,
  left_out bigint not null,
  primary key (workspace_id, id)
);

create index recordings_by_key on recordings (workspace_id, key_id, created_at_ms);
create index recordings_by_age on recordings (created_at_ms);

-- fingerprint is equal for attempts at the same request. facts is JSON. at_us and took_us are microseconds.
create table recorded_requests (
  workspace_id bigint not null,
  recording_id text not null,
  number bigint not null,
  at_us bigint not null,
  took_us bigint not null,
  fingerprint text not null,
  facts text not null,
  body text,
  primary key (workspace_id, recording_id, number)
);
