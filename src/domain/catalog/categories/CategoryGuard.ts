/**
 * Refuses cycles and parents of another organization. Runs after the statement, so that its rows see one another, and under
 * the lock of the tree, so that the second of two moves sees the first. Lock order: first `categories:<organization>`, then
 * rows, parents before siblings, siblings by id. A statement that locks rows before this lock can deadlock.
 */
const guard = `create function categories_guard() returns trigger language plpgsql as $$
  declare
    above uuid := new.parent_id;
    steps int := 0;
  begin
    if tg_op = 'UPDATE' then
      perform pg_advisory_xact_lock(hashtextextended('categories:' || new.organization_id, 0));
    end if;
    while above is not null loop
      if above = new.id or steps > 10000 then
        raise exception 'category % cannot lie below itself', new.id
          using errcode = 'check_violation', constraint = 'categories_no_circle', table = 'categories';
      end if;
      select parent_id into above from categories where id = above and organization_id = new.organization_id;
      if not found and steps = 0 then
        raise exception 'category % has a parent outside of its organization', new.id
          using errcode = 'check_violation', constraint = 'categories_own_parent', table = 'categories';
      end if;
      steps := steps + 1;
    end loop;
    return null;
  end $$`

export const categoryGuard: ReadonlyArray<string> = [
  guard,
  `create trigger categories_guard after insert or update of parent_id on categories for each row
    when (new.parent_id is not null) execute function categories_guard()`,
  `create index categories_siblings on categories (organization_id, parent_id, sort_order, slug)`
]
