import { Effect } from "effect"
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { Table } from "../../src/domain/platform/records/Table.ts"

/** Files that declare tables of records. */
export const declaring = globSync("src/domain/**/*.ts").filter((file) =>
  /= new Table\(/.test(readFileSync(file, "utf8"))
)

/** Every table of a record that the domain exports. */
export const tables = Effect.promise(async () => {
  const modules = await Promise.all(declaring.map((file): Promise<object> => import(resolve(file))))
  return [...new Set(modules.flatMap((module) => Object.values(module)))].filter((value) => value instanceof Table)
})
