import { Effect, Record, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** A value of a column as JSON has it: the driver gives times as `Date` and eight-byte integers as bigint. */
const plain = (value: unknown): unknown =>
  value instanceof Date ? value.toISOString() : typeof value === "bigint" ? Number(value) : value

/**
 * A template for statements whose rows are decoded by this schema, so that what a statement returns and what the code
 * expects cannot drift apart. A row that does not fit is a defect. Statements of hot paths (`*Statements.ts`) assert the
 * type of their rows instead. Unprepared: planned for each call, where a plan made on a young table would be kept too long.
 */
export const decoding = <A>(
  sql: SqlClient.SqlClient,
  row: Schema.Codec<A, unknown>,
  preparation: "prepared" | "unprepared" = "prepared"
) => {
  const decode = Schema.decodeUnknownSync(Schema.Array(Schema.toCodecJson(row)), {
    // What is stored was checked when it came in, by the rules of then.
    disableChecks: true
  })
  return (
    strings: TemplateStringsArray,
    ...parameters: ReadonlyArray<unknown>
  ): Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> => {
    const statement = sql<Record<string, unknown>>(strings, ...parameters)
    return Effect.map(
      preparation === "prepared" ? statement : statement.unprepared,
      (rows) => decode(rows.map(Record.map(plain)))
    )
  }
}
