-- Distributes Petstore's tables over the nodes of Citus. Run it on the coordinator when Petstore has created its tables there. Run it
-- again after an upgrade, for new tables. It skips tables that are already distributed:
-- psql --single-transaction --set ON_ERROR_STOP=1 --file deploy/citus.sql "$DATABASE_URL"
set client_min_messages = warning;

-- These tables are small, and are read together with others or belong to no workspace, so every node has a copy.
select format('select create_reference_table(%L)', name)
from unnest('{workspaces, api_keys, invites}'::text[]) name
where not exists (select from pg_dist_partition where logicalrelid = name::regclass and repmodel = 't')
\gexec

-- Everything else of a workspace is on one node. Every table was created after the tables that it refers to, so the order of creation
-- is right.
select format('select create_distributed_table(%L, %L)', t.relname, 'workspace_id')
from pg_class t
join pg_namespace n on n.oid = t.relnamespace and n.nspname = current_schema()
join pg_attribute c on c.attrelid = t.oid and c.attname = 'workspace_id'
where t.relkind = 'r' and t.relname <> 'api_keys'
  and not exists (select from pg_dist_partition where logicalrelid = t.oid and partmethod = 'h')
order by t.oid
\gexec
