import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import type { RefusedRow } from "./Import.ts"

/** Records of imports that were refused. */
export class RefusalRepo extends Context.Service<RefusalRepo, {
  /** A page, in the order of the file. */
  readonly list: (importId: string, page: PageRequest) => Effect.Effect<PageOf<RefusedRow>, never, CurrentActor>
  /** The refusals after a row, up to a limit, for reading all of them. */
  readonly after: (
    importId: string,
    row: number,
    limit: number
  ) => Effect.Effect<ReadonlyArray<RefusedRow>, never, CurrentActor>
}>()("stoa/domain/import-export/RefusalRepo") {
  static readonly layer = Layer.effect(RefusalRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const make = (sql: SqlClient.SqlClient): RefusalRepo["Service"] => {
  const of = (organization: string, importId: string) =>
    sql`organization_id = ${organization} and import_id = ${importId}::uuid`

  const list = Effect.fn("RefusalRepo.list")(function*(importId: string, page: PageRequest) {
    const where = of(yield* currentOrganization, importId)
    const [items, counted] = yield* Effect.all([
      sql<RefusedRow>`select row, line, key, issues from import_refusals where ${where} order by row
        limit ${page.limit} offset ${offsetOf(page)}`,
      sql<{ readonly count: bigint }>`select count(*) as count from import_refusals where ${where}`
    ], { concurrency: "unbounded" })
    return { ...page, items, total: Number(counted[0]?.count ?? 0) }
  }, Effect.orDie)

  const after = Effect.fn("RefusalRepo.after")(function*(importId: string, row: number, limit: number) {
    const where = of(yield* currentOrganization, importId)
    return yield* sql<RefusedRow>`select row, line, key, issues from import_refusals
      where ${where} and row > ${row} order by row limit ${limit}`
  }, Effect.orDie)

  return { list, after }
}
