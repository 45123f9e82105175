import { Effect, Result } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Issue } from "../errors/ApiErrors.ts"
import type { RowResult, Work, Worked } from "./BatchRepo.ts"
import type { Import, StagedRow } from "./Import.ts"
import type { BatchResult, ImportResult } from "./ImportBatch.ts"

const resultOf = ({ line, row }: StagedRow, key: string | null, result: ImportResult): RowResult => ({
  row,
  line,
  key,
  result
})

/**
 * Processes rows of one kind: decodes each record and upserts the valid ones. The batch ends before a repeated key,
 * because the last record in a file counts. `keyOf` is the key shown in reports.
 */
export const workOf = <A>(
  read: (record: unknown, of: Import) => Result.Result<A, ReadonlyArray<Issue>>,
  keyOf: (record: A) => string,
  upsert: (records: ReadonlyArray<A>, of: Import) => Effect.Effect<BatchResult, never, CurrentActor>
): Work =>
  Effect.fnUntraced(function*(rows: ReadonlyArray<StagedRow>, of: Import) {
    const taken: Array<{ readonly row: StagedRow; readonly key: string; readonly record: A }> = []
    const keys = new Set<string>()
    const results: Array<RowResult> = []
    for (const row of rows) {
      const found = row.problem === null
        ? read(row.record, of)
        : Result.fail([{ path: "", message: row.problem, code: "unreadable" }])
      if (Result.isFailure(found)) {
        results.push(resultOf(row, null, { _tag: "refused", issues: found.failure }))
        continue
      }
      const key = keyOf(found.success)
      if (keys.has(key)) break
      keys.add(key)
      taken.push({ row, key, record: found.success })
    }
    const done = yield* upsert(taken.map(({ record }) => record), of)
    results.push(
      ...taken.map(({ key, row }, index) => resultOf(row, key, done.results[index] ?? { _tag: "unchanged" }))
    )
    const worked: Worked = { results: results.toSorted((a, b) => a.row - b.row), afterCommit: done.afterCommit }
    return worked
  })
