import { Effect, Record, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

const plain = (value: unknown): unknown =>
  value instanceof Date ? value.toISOString() : typeof value === "bigint" ? Number(value) : value

export const plainRows = (rows: ReadonlyArray<Record<string, unknown>>) => rows.map(Record.map(plain))

/** Expensive to make: records have one for each table. */
export const decoderOf = <A>(row: Schema.Codec<A, unknown>): (rows: unknown) => ReadonlyArray<A> =>
  Schema.decodeUnknownSync(Schema.Array(Schema.toCodecJson(row)), {
    disableChecks: true
  })

/** Unprepared where a plan made on a young table would be kept too long. */
export type Preparation = "prepared" | "unprepared"

export const decodingBy =
  <A>(sql: SqlClient.SqlClient, decode: (rows: unknown) => ReadonlyArray<A>, preparation: Preparation = "prepared") =>
  (
    strings: TemplateStringsArray,
    ...parameters: ReadonlyArray<unknown>
  ): Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> => {
    const statement = sql<Record<string, unknown>>(strings, ...parameters)
    return Effect.map(
      preparation === "prepared" ? statement : statement.unprepared,
      (rows) => decode(plainRows(rows))
    )
  }

/**
 * A template for statements whose rows this schema decodes; a row that does not fit is a defect. Hot paths
 * (`*Statements.ts`) assert row types instead.
 */
export const decoding = <A>(sql: SqlClient.SqlClient, row: Schema.Codec<A, unknown>, preparation?: Preparation) =>
  decodingBy(sql, decoderOf(row), preparation)
