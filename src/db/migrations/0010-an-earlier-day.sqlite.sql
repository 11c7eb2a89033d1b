-- The day that an account used before its latest one, to which a clock that was ahead goes back.
alter table limit_accounts add column earlier_day integer not null default 0;
alter table limit_accounts add column earlier_day_count integer not null default 0;
