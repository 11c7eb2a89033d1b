-- The day that an account used before its latest one, to which a clock that was ahead goes back.
alter table limit_accounts add column earlier_day bigint not null default 0;
alter table limit_accounts add column earlier_day_count bigint not null default 0;
