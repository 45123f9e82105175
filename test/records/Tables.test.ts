import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema, String } from "effect"
import { SqlClient } from "effect/sql"
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { Table } from "../../src/domain/platform/records/Table.ts"
import { TestDatabase } from "../support/Postgres.ts"

const declaring = globSync("src/domain/**/*.ts").filter((file) => /= new Table\(/.test(readFileSync(file, "utf8")))

/** Every table of a record that the domain declares. */
const tables = Effect.promise(async () => {
  const modules = await Promise.all(declaring.map((file): Promise<object> => import(resolve(file))))
  return modules.flatMap((module) => Object.values(module).filter((value) => value instanceof Table))
})

const admitsNull = (field: Schema.Top): boolean => Schema.is(Schema.toType(field))(null)

/** What keeps a record's fields from being stored in its table; empty when nothing does. */
const problemsOf = (table: Table<object>, columns: ReadonlyMap<string, boolean>): ReadonlyArray<string> =>
  Object.entries(table.schema.fields).filter(([field]) => !(field in table.computed)).flatMap(([field, schema]) => {
    const column = String.camelToSnake(field)
    const nullable = columns.get(column)
    if (nullable === undefined) return [`${table.name} has no column ${column}`]
    return nullable && !admitsNull(schema)
      ? [`${table.name}.${column} may be null, and the record's field may not`]
      : []
  })

describe("tables of records", () => {
  layer(TestDatabase)((it) => {
    it.effect("have a column for each field, which is never null where the field is not", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ table: string; column: string; nullable: boolean }>`select table_name as table,
          column_name as column, is_nullable = 'YES' as nullable from information_schema.columns
          where table_schema = 'public'`
        const columns = Map.groupBy(rows, ({ table }) => table)
        const problems = (yield* tables).flatMap((table) =>
          problemsOf(table, new Map(columns.get(table.name)?.map(({ column, nullable }) => [column, nullable])))
        )
        assert.deepStrictEqual(problems, [])
      }))
  })

  it.effect("are exported, so that this test sees them", () =>
    Effect.gen(function*() {
      const declared = declaring.flatMap((file) => readFileSync(file, "utf8").match(/= new Table\(/g) ?? [])
      assert.lengthOf(yield* tables, declared.length)
    }))
})
