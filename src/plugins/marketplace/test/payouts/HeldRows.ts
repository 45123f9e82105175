import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { atOnce } from "../../../../../test/support/AtOnce.ts"
import { sharedClient } from "../../../../../test/support/SharedClients.ts"
import { TestApp } from "../../../../../test/support/TestApp.ts"

/** Rows of a vendor's that the test holds. */
type Held = (sql: SqlClient.SqlClient) => Statement.Statement<unknown>

export const accountsOf = (vendorId: string): Held => (sql) =>
  sql`select 1 from marketplace_vendor_accounts where vendor_id = ${vendorId}::uuid for update`

export const entriesOf = (vendorId: string): Held => (sql) =>
  sql`select 1 from marketplace_vendor_balances where vendor_id = ${vendorId}::uuid for update`

/** Does all of these at the same moment, in this order: each waits for rows that are held until the last one does. */
export const heldWhileAllWait = <A, E>(held: Held, all: ReadonlyArray<Effect.Effect<A, E, TestApp>>) =>
  Effect.flatMap(
    TestApp,
    ({ databaseUrl }) => atOnce(held, all).pipe(Effect.provide(sharedClient(databaseUrl)))
  )
