import { statements } from "../platform/database/MigrationStatements.ts"

export const migrations = {
  // Written with the claim of the cart, deleted with the last change of the checkout. Rows are short-lived: the table
  // is vacuumed by the number of dead rows, not by their share.
  "0001_checkout_runs": statements(
    `create table checkout_runs (
      id uuid primary key,
      organization_id text not null,
      -- Who may change the checkout: a run that takes over writes another token.
      owner uuid not null,
      -- The number of the process that runs it (ProcessNumber); null: the workflow engine runs it.
      process int,
      payload text not null,
      started_at timestamptz not null default now()
    ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
      autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000)`
  )
}
