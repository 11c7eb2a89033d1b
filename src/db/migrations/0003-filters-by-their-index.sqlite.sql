-- SQLite's planner guesses the same small size for every table until it is told better, and would then filter a list by
-- reading the whole workspace. These are the shapes that matter: rows in all, in a workspace, and for each further
-- column of the index. They are fixed, so that a plan never changes by itself.
analyze;

delete from sqlite_stat1;

insert into sqlite_stat1 (tbl, idx, stat) values
  ('pets', 'pets', '1000000 100000 1'),
  ('pets', 'pets_by_status', '1000000 100000 30000 1'),
  ('pets', 'pets_by_category', '1000000 100000 10000 1'),
  ('pets', 'pets_by_category_and_status', '1000000 100000 10000 3000 1'),
  ('orders', 'orders', '1000000 100000 1'),
  ('orders', 'orders_by_complete', '1000000 100000 50000 1'),
  ('orders', 'orders_by_pet', '1000000 100000 10 1'),
  ('orders', 'orders_by_pet_and_complete', '1000000 100000 10 5 1');

analyze sqlite_schema;
