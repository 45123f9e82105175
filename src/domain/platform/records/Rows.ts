import { Effect, Record, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** A value of a column as JSON has it: the driver gives times as `Date` and eight-byte integers as bigint. */
const plain = (value: unknown): unknown =>
  value instanceof Date ? value.toISOString() : typeof value === "bigint" ? Number(value) : value

/** Rows of the driver as JSON has them. */
export const plainRows = (rows: ReadonlyArray<Record<string, unknown>>) => rows.map(Record.map(plain))

/** Reads rows of a schema; an expensive value to make, so records have one for each table. */
export const decoderOf = <A>(row: Schema.Codec<A, unknown>): (rows: unknown) => ReadonlyArray<A> =>
  Schema.decodeUnknownSync(Schema.Array(Schema.toCodecJson(row)), {
    // What is stored was checked when it came in, by the rules of then.
    disableChecks: true
  })

/** How a statement is planned: once, or for each call, where a plan made on a young table would be kept too long. */
export type Preparation = "prepared" | "unprepared"

/** `decoding` with a decoder that exists. */
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
 * A template for statements whose rows are decoded by this schema, so that what a statement returns and what the code
 * expects cannot drift apart. A row that does not fit is a defect. Statements of hot paths (`*Statements.ts`) assert the
 * type of their rows instead.
 */
export const decoding = <A>(sql: SqlClient.SqlClient, row: Schema.Codec<A, unknown>, preparation?: Preparation) =>
  decodingBy(sql, decoderOf(row), preparation)
