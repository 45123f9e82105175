/**
 * The guard of the tree: whoever gives a category a parent, by whatever statement, cannot close a circle or leave the
 * organization. It runs after the statement, so that rows of one statement see one another, and behind the lock of the
 * organization's tree, so that of two moves that close a circle together the second sees the first: inside of a trigger
 * every look is taken anew. A new row lies above nothing and needs no lock.
 *
 * Lock order of whoever changes the tree (`CategoryRepo`, `CategoryMoveRepo`): first `categories:<organization>`, then
 * rows, parents before siblings, siblings by id. A statement that takes rows first and this lock at its end may meet one
 * that waits for its row; PostgreSQL ends one of the two.
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

/** The trigger, and the index by which children are found in their order. */
export const categoryGuard: ReadonlyArray<string> = [
  guard,
  `create trigger categories_guard after insert or update of parent_id on categories for each row
    when (new.parent_id is not null) execute function categories_guard()`,
  `create index categories_siblings on categories (organization_id, parent_id, sort_order, slug)`
]
