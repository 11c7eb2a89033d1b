-- Spreads Petstore's tables over the nodes of Citus: psql --single-transaction --file deploy/citus.sql "$DATABASE_URL"
-- It runs on the coordinator once Petstore has made its tables there, and again after an upgrade that makes more of them.

-- The directory is small and is read by each node, so each has all of it.
select format('select create_reference_table(%L)', name)
from unnest('{schema_version, workspaces, api_keys}'::text[]) name
where not exists (
  select from pg_dist_partition p where p.logicalrelid = name::regclass and p.partmethod = 'n' and p.repmodel = 't')
\gexec

-- All else of a workspace is on one node. A table is older than those that refer to it.
select format('select create_distributed_table(%L, %L)', t.relname, 'workspace_id')
from pg_class t
join pg_attribute c on c.attrelid = t.oid and c.attname = 'workspace_id'
where t.relkind = 'r' and t.relnamespace = current_schema()::regnamespace and t.relname <> 'api_keys'
  and not exists (select from pg_dist_partition p where p.logicalrelid = t.oid and p.partmethod = 'h')
order by t.oid
\gexec
