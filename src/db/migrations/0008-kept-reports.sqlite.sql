-- The last report of a recording: on so many of its requests, by the checks of a version, as JSON.
create table recording_reports (
  workspace_id integer not null,
  recording_id text not null,
  requests integer not null,
  version integer not null,
  report text not null,
  primary key (workspace_id, recording_id)
) strict;

-- 1 once a client has ended the recording and knows how many requests it holds: then it takes no more.
alter table recordings add column is_final integer not null default 0;
