-- PostgreSQL keeps statistics by itself (autovacuum). This number keeps the migrations of both engines in step.
select 1;
