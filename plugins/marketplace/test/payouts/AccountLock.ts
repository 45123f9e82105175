import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { atOnce } from "../../../../test/support/AtOnce.ts"
import { TestApp } from "../../../../test/support/TestApp.ts"

/** Does something so often at the same moment: all of them wait for the vendor's account until the last one does. */
export const heldUntilAllWait = <A, E>(vendorId: string, times: number, what: Effect.Effect<A, E, TestApp>) =>
  Effect.flatMap(TestApp, ({ databaseUrl }) =>
    atOnce(
      (sql: SqlClient.SqlClient) =>
        sql`select 1 from marketplace_vendor_accounts where vendor_id = ${vendorId}::uuid for update`,
      Array.from({ length: times }, () => what)
    ).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(databaseUrl), maxConnections: 2 }))))
