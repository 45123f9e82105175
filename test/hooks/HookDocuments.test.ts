import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { hookOperations } from "../../src/domain/hooks/HookMap.ts"

const document = readFileSync(new URL("../../docs/plugins.md", import.meta.url), "utf8")

/** Rows of the table of keys: key, operation, what it gets, when it fires. */
const rows = [...document.matchAll(/^\| `([\w.<>]+)` \| `(\w+)` \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, ...cells]) =>
  cells.map((cell) => cell.trim())
)

it("docs/plugins.md lists every key of the core and no other, with its operation and when it fires", () => {
  assert.deepStrictEqual(
    rows.map(([key, operation]) => [key, operation]),
    Object.entries(hookOperations)
  )
  assert.deepStrictEqual(rows.filter(([, , , fires]) => fires === ""), [])
})
