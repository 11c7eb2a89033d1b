-- No event has a smaller id. Readers start there, so they do not search what was removed before.
alter table sequences add column least_id bigint not null default 1;
