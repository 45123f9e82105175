import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Import } from "../../src/domain/import-export/Import.ts"
import { ImportId } from "../../src/domain/platform/ids/Id.ts"
import { barOf, progressOn } from "../../src/layers/import-export/ImportExportCommand.ts"
import { onDatabase } from "../support/Audit.ts"
import { stoa } from "../support/Command.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { anOldOrder, jsonl } from "./ImportFixtures.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "stoa-import-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

it.live(
  "stoa import and export move a catalog from one store to another, without a service",
  () =>
    Effect.gen(function*() {
      const [from, to] = yield* Effect.all([freshDatabase, freshDatabase])
      const path = yield* folder
      const [file, out] = [join(path, "in.csv"), join(path, "out.jsonl")]
      yield* Effect.promise(() => writeFile(file, "slug,type,title\nmug,product,Mug\ncup,product,Cup\n"))
      const dry = yield* stoa(["import", file, "--dry-run"], { DATABASE_URL: from.url })
      assert.deepStrictEqual([dry.code, dry.output.includes("nothing was changed")], [0, true], dry.output)
      const done = yield* stoa(["import", file], { DATABASE_URL: from.url })
      assert.strictEqual(done.code, 0, done.output)
      assert.include(done.output, "2 of 2 records: 2 created, 0 updated, 0 unchanged, 0 refused")
      const written = yield* stoa(["export", "--format", "jsonl", "--out", out], { DATABASE_URL: from.url })
      assert.strictEqual(written.code, 0, written.output)
      const moved = yield* stoa(["import", out], { DATABASE_URL: to.url })
      assert.strictEqual(moved.code, 0, moved.output)
      const again = yield* stoa(["export", "--format", "jsonl"], { DATABASE_URL: to.url })
      assert.strictEqual(again.output, yield* Effect.promise(() => readFile(out, "utf8")))
      yield* Effect.promise(() => writeFile(file, "slug,type\nbad,\n"))
      const refused = yield* stoa(["import", file], { DATABASE_URL: to.url })
      assert.strictEqual(refused.code, 1)
      assert.include(refused.output, "line 2 (bad): type is required for a new record.")
      const nowhere = yield* stoa(["import", file, "--org", "missing"], { DATABASE_URL: to.url })
      assert.deepStrictEqual([nowhere.code, nowhere.output.includes("no organization \"missing\"")], [1, true])
    }).pipe(Effect.scoped),
  180_000
)

it.live(
  "stoa import and export move orders without a change",
  () =>
    Effect.gen(function*() {
      const database = { DATABASE_URL: (yield* freshDatabase).url }
      const path = yield* folder
      const [file, out] = [join(path, "in.jsonl"), join(path, "out.csv")]
      const orders = ["#1001", "#1002", "ORD-2019-000001"].map((orderNumber) => anOldOrder(orderNumber))
      yield* Effect.promise(() => writeFile(file, jsonl(...orders, anOldOrder("#1003", { grandTotal: 1 }))))
      const done = yield* stoa(["import", file, "--kind", "orders"], database)
      assert.strictEqual(done.code, 1, done.output)
      assert.include(done.output, "4 of 4 records: 3 created, 0 updated, 0 unchanged, 1 refused")
      assert.include(done.output, "line 4 (#1003): grandTotal must be 2520, which the order comes to, and is 1.")
      const written = yield* stoa(["export", "--kind", "orders", "--out", out], database)
      assert.strictEqual(written.code, 0, written.output)
      const again = yield* stoa(["import", out, "--kind", "orders"], database)
      assert.include(again.output, "3 of 3 records: 0 created, 0 updated, 3 unchanged, 0 refused")
      assert.include(yield* Effect.promise(() => readFile(out, "utf8")), "#1002,fulfilled,2021-03-04T05:06:07.089Z")
    }).pipe(Effect.scoped),
  180_000
)

it.live(
  "stoa import reports a missing file, and creates no import for it",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const path = yield* folder
      for (const [file, why] of [["nowhere.csv", "there is no such file"], [".", "it is a folder"]] as const) {
        const refused = yield* stoa(["import", join(path, file), "--format", "csv"], { DATABASE_URL: url })
        assert.strictEqual(refused.code, 1, refused.output)
        assert.include(refused.output, `${join(path, file)} cannot be read: ${why}.`)
        assert.notInclude(refused.output, "    at ")
      }
      assert.deepStrictEqual(yield* onDatabase(url, (sql) => sql`select 1 from imports`), [])
    }).pipe(Effect.scoped)
)

it.live(
  "an unknown command is answered with an error and nothing else",
  () =>
    Effect.gen(function*() {
      const refused = yield* stoa(["inport"], {})
      assert.strictEqual(refused.code, 1)
      assert.include(refused.output, "Unknown subcommand \"inport\"")
      assert.notInclude(refused.output, "stoa: ")
    })
)

const half: Import = {
  id: ImportId.make("00000000-0000-0000-0000-000000000000"),
  organizationId: "org",
  kind: "catalog",
  format: "csv",
  fileName: null,
  dryRun: false,
  currency: null,
  warehouse: null,
  pictures: false,
  state: "running",
  bytes: 1,
  rows: 2_000,
  read: 1_000,
  created: 900,
  updated: 50,
  unchanged: 25,
  refused: 25,
  warned: 0,
  error: null,
  createdBy: null,
  createdAt: new Date(0),
  startedAt: null,
  completedAt: null
}

it("the progress of an import is a bar on a terminal, and a line for each tenth elsewhere", () => {
  assert.include(barOf(half), "50%  1,000 of 2,000  900 created, 50 updated, 25 unchanged, 25 refused")
  const [terminal, log]: [Array<string>, Array<string>] = [[], []]
  const onTerminal = progressOn({ isTTY: true, write: (text) => terminal.push(text) })
  const onLog = progressOn({ write: (text) => log.push(text) })
  for (const read of [1_000, 1_001, 1_400]) {
    onTerminal({ ...half, read })
    onLog({ ...half, read })
  }
  assert.deepStrictEqual([terminal.length, log.length], [3, 2])
  assert.isTrue(terminal.every((text) => text.startsWith("\r") && !text.endsWith("\n")))
})
