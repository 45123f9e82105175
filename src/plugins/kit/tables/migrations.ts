import { statements } from "../../../domain/platform/database/MigrationStatements.ts"

/** Tables of the kit, which serve all plugins. */
export const migrations = {
  "0001_plugin_counters": statements(
    // Numbers of documents. A row for each scope: a new period begins in the row of the one before.
    `create table plugin_counters (
      organization_id text not null references organizations,
      plugin text not null,
      kind text not null,
      scope text not null,
      period text collate "C" not null,
      value bigint not null,
      primary key (organization_id, plugin, kind, scope)
    )`
  )
}
