/**
 * Counters of lists (ADR 23): rows of an organization by a value. Writers only add to `list_changes`, so none waits for
 * another; `ListTotals.fold` moves that into `list_totals`. The total is the sum of both.
 */
export const listTotals: ReadonlyArray<string> = [
  `create table list_totals (
    organization_id text not null,
    list text not null,
    part text not null,
    rows bigint not null,
    primary key (organization_id, list, part)
  ) with (fillfactor = 70)`,
  "create index list_totals_empty on list_totals (organization_id) where rows = 0",
  `create table list_changes (
    organization_id text not null,
    list text not null,
    part text not null,
    rows bigint not null
  ) with (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0)`,
  `create index list_changes_list on list_changes (organization_id, list, part) include (rows)`
]

export interface CountedRows {
  readonly table: string
  /** SQL over a row: its value, null for one that no list shows. Default: all as one. */
  readonly part?: (row: string) => string
  /** For tables most of whose writes have no part: triggers for each row instead of each statement. */
  readonly few?: boolean
  readonly triggers?: string
}

/** Counts rows of a table by triggers. `<table>_recount()` counts all again and blocks writers. */
export const countedBy = (
  { few = false, part = () => "''", table, triggers = table }: CountedRows
): ReadonlyArray<string> => {
  const value = (row: string) => `(${part(row)})`
  const changed = `${value("old")} is distinct from ${
    value("new")
  } or old.organization_id is distinct from new.organization_id`
  const trigger = (operation: "insert" | "update" | "delete", each: string) =>
    `create trigger ${triggers}_counted_${operation} after ${operation} on ${table} ${each} execute function ${table}_counted()`
  const all = (step: string, rows: string) =>
    `select r.organization_id, '${table}', ${value("r")}, ${step} * count(*) from ${rows} r
      where ${value("r")} is not null and r.organization_id is not null group by 1, 3`
  return [
    `create function ${table}_counted() returns trigger language plpgsql as $$
    begin
      if tg_level = 'ROW' then
        insert into list_changes (organization_id, list, part, rows)
          select organization_id, '${table}', part, step
          from (values (old.organization_id, ${value("old")}, -1), (new.organization_id, ${value("new")}, 1))
            v(organization_id, part, step)
          where organization_id is not null and part is not null;
      else
        insert into list_changes (organization_id, list, part, rows) ${
      all("case tg_op when 'INSERT' then 1 else -1 end", "changed")
    };
      end if;
      return null;
    end $$`,
    trigger(
      "insert",
      few
        ? `for each row when (${value("new")} is not null)`
        : "referencing new table as changed for each statement"
    ),
    trigger("update", `for each row when (${changed})`),
    trigger(
      "delete",
      few
        ? `for each row when (${value("old")} is not null)`
        : "referencing old table as changed for each statement"
    ),
    `create function ${table}_recount() returns void language plpgsql as $$
    begin
      lock table ${table} in share row exclusive mode;
      delete from list_totals where list = '${table}';
      delete from list_changes where list = '${table}';
      insert into list_totals (organization_id, list, part, rows) ${all("1", table)};
    end $$`,
    `select ${table}_recount()`
  ]
}
