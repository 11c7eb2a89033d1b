-- A code that lets people create their own workspaces. upgrades: plans that its members may change to, separated by commas.
create table invites (
  id text primary key,
  hash text not null unique,
  plan text not null,
  upgrades text not null,
  uses bigint not null,
  used bigint not null default 0 check (used <= uses),
  label text,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  ended_at_ms bigint
);

-- A key that its owner created. Without an invite it came by open sign-up. id is that of the key.
-- A closed member has no access any more, and is deleted soon.
create table members (
  workspace_id bigint not null,
  id text not null,
  invite_id text,
  name text not null,
  created_at_ms bigint not null,
  last_request_at_ms bigint,
  last_error text,
  last_error_at_ms bigint,
  closed_at_ms bigint,
  primary key (workspace_id, id)
);

create index members_by_invite on members (invite_id, created_at_ms);
create index members_by_end on members (closed_at_ms) where closed_at_ms is not null;

-- Who created the key: demo, invite or signup. Null: an operator.
alter table api_keys add column origin text;
-- The secret before the last change, and until when it works.
alter table api_keys add column previous_hash text;
alter table api_keys add column previous_until_ms bigint;
create unique index api_keys_by_previous_hash on api_keys (previous_hash);

update api_keys set origin = 'demo'
where label = 'demonstration' and workspace_id = (select id from workspaces where name = 'demo');
