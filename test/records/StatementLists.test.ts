import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"

/**
 * Tables whose inserts name their columns by hand, and how often: they have no record (`Tables.test.ts`), or a trigger
 * writes them (`entity_revisions`; `hold_lines` and `stock_movements` of back-orders).
 */
const byHand: Readonly<Record<string, number>> = {
  cluster_messages: 1,
  cluster_replies: 1,
  cluster_runners: 1,
  entity_field_schemas: 1,
  entity_revisions: 2,
  hold_lines: 1,
  idempotency_keys: 1,
  idempotency_records: 2,
  invoice_counters: 1,
  job_keys: 1,
  list_totals: 1,
  order_counters: 2,
  outbox_cursors: 3,
  promotion_buyer_usages: 1,
  rate_limit_counters: 1,
  scheduler_ticks: 1,
  search_fields: 1,
  search_stale: 1,
  search_vocabulary: 2,
  stock_items: 2,
  stock_movements: 1,
  worker_slots: 1
}

/** Inserts whose list of columns does not come from a `Table`. */
const listsByHand = globSync("src/{domain,layers,entities,workflows,http}/**/*.ts")
  .filter((file) => !file.endsWith("migrations.ts"))
  .flatMap((file) => [...readFileSync(file, "utf8").matchAll(/insert into (\w+)(?: as \w+)?\s*\(([^)$]*)[)$]/g)])
  .filter(([, , columns = ""]) => /^\s*\w+(, \w+)*\s*$/.test(columns.replaceAll(/\s+/g, " ")))

it("inserts of records derive their columns, except for those listed here", () => {
  const counts = Map.groupBy(listsByHand, ([, table = ""]) => table)
  assert.deepStrictEqual(Object.fromEntries([...counts].map(([table, found]) => [table, found.length])), byHand)
})
