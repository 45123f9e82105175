import { Effect, Result } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Issue } from "../errors/ApiErrors.ts"
import type { RowResult, Work, Worked } from "./BatchRepo.ts"
import type { Import, StagedRow } from "./Import.ts"
import type { BatchResult, Outcome } from "./Outcome.ts"

/** How the records of a kind are read and put in place. */
export interface Handling<A> {
  readonly read: (record: unknown, of: Import) => Result.Result<A, ReadonlyArray<Issue>>
  /** What names the record in its store, for people; two of one batch never have the same. */
  readonly keyOf: (record: A) => string
  readonly apply: (records: ReadonlyArray<A>, of: Import) => Effect.Effect<BatchResult, never, CurrentActor>
}

const refusal = (row: StagedRow, issues: ReadonlyArray<Issue>): RowResult => ({
  row: row.row,
  line: row.line,
  key: null,
  outcome: { _tag: "refused", issues }
})

/**
 * Works on rows of a kind. Where a record comes a second time, the batch ends before it: rows count in their order, so that
 * the last one of a file stands.
 */
export const workOf = <A>({ apply, keyOf, read }: Handling<A>): Work =>
  Effect.fnUntraced(function*(rows: ReadonlyArray<StagedRow>, of: Import) {
    const taken: Array<{ readonly row: StagedRow; readonly key: string; readonly record: A }> = []
    const keys = new Set<string>()
    const refused = new Map<number, RowResult>()
    let last = 0
    for (const row of rows) {
      const found = row.problem === null
        ? read(row.record, of)
        : Result.fail([{ path: "", message: row.problem, code: "unreadable" }])
      if (Result.isFailure(found)) refused.set(row.row, refusal(row, found.failure))
      else {
        const key = keyOf(found.success)
        if (keys.has(key)) break
        keys.add(key)
        taken.push({ row, key, record: found.success })
      }
      last = row.row
    }
    const { outcomes, told } = yield* apply(taken.map(({ record }) => record), of)
    const worked = new Map(taken.map(({ key, row: { line, row } }, index): [number, RowResult] => {
      const outcome: Outcome = outcomes[index] ?? { _tag: "unchanged" }
      return [row, { row, line, key, outcome }]
    }))
    const results = rows.filter(({ row }) => row <= last).flatMap(({ row }) =>
      worked.get(row) ?? refused.get(row) ?? []
    )
    const result: Worked = { results, told }
    return result
  })
