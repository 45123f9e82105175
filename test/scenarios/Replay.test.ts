import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { replay } from "../../scripts/replay/Replay.ts"
import { TestApp, withApp } from "../support/TestApp.ts"

const heading = "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country"

/** A file with these lines, gone when the scope closes. */
const aFile = (...lines: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const directory = await mkdtemp(join(tmpdir(), "stoa-replay-"))
      const path = join(directory, "invoices.csv")
      await writeFile(path, [heading, ...lines, ""].join("\n"))
      return { directory, path }
    }),
    ({ directory }) => Effect.promise(() => rm(directory, { recursive: true }))
  ).pipe(Effect.map(({ path }) => path))

/** Runs the replay against the test's service and keeps what it printed. */
const run = Effect.fnUntraced(function*(path: string) {
  const { url } = yield* TestApp
  const printed: Array<string> = []
  const result = yield* replay({ baseUrl: url, key: "dev-admin-key", path, print: (line) => printed.push(line) })
  return { result, printed }
})

const key = { headers: { "x-api-key": "dev-admin-key" } }

/** The order of an invoice as the service has it. */
const orderOf = Effect.fnUntraced(function*(invoice: string) {
  const { api } = yield* TestApp
  const all = yield* api("GET", "/api/orders?limit=100", key)
  const index = all.list("data").findIndex((_, n) => all.at(`data.${n}.metadata.invoice`) === invoice)
  return { subtotal: all.at(`data.${index}.subtotal`), lines: all.list(`data.${index}.lineItems`), answer: all, index }
})

const onHand = Effect.fnUntraced(function*(slug: string) {
  const { api } = yield* TestApp
  const id = (yield* api("GET", `/api/catalog/entities/${slug}`)).text("data.id")
  const levels = yield* api("GET", `/api/inventory/levels?entityId=${id}`, key)
  return levels.number("data.0.available")
})

withApp("a replay of invoices", (it) => {
  it.effect("adds every order up to its invoice, also where one product has two prices on one invoice", () =>
    Effect.gen(function*() {
      const path = yield* aFile(
        "700001,85123A,WHITE HANGING HEART,6,12/1/2010 8:26,2.55,17850,United Kingdom",
        `700001,22752,"SET 7 BABUSHKA, ""NESTING"" BOXES",2,12/1/2010 8:26,7.65,17850,United Kingdom`,
        "700001,85123a,WHITE HANGING HEART,32,12/1/2010 8:26,2.1,17850,United Kingdom",
        "700001,85123A,WHITE HANGING HEART,1,12/1/2010 8:26,2.55,17850,United Kingdom",
        "700002,85123A,WHITE HANGING HEART,64,12/1/2010 9:00,1.95,,France",
        "700003,85123A,WHITE HANGING HEART,1,12/1/2010 9:01,2.95,,France"
      )
      const { printed, result } = yield* run(path)
      assert.deepStrictEqual(result.differences, [])
      assert.strictEqual(result.ordersPlaced, 3)
      const first = yield* orderOf("700001")
      assert.strictEqual(first.subtotal, 7 * 255 + 2 * 765 + 32 * 210)
      assert.strictEqual(first.lines.length, 3)
      const titles = first.lines.map((_, n) => first.answer.at(`data.${first.index}.lineItems.${n}.title`))
      assert.include(titles, `SET 7 BABUSHKA, "NESTING" BOXES`)
      assert.strictEqual((yield* orderOf("700002")).subtotal, 64 * 195)
      assert.strictEqual((yield* orderOf("700003")).subtotal, 295)
      assert.deepStrictEqual(result.countries.get("France"), { orders: 2, units: 65, subtotal: 64 * 195 + 295 })
      assert.include(printed.join("\n"), "every order equals its invoice to the penny")
    }))

  it.effect("doubles nothing when it runs again, and takes up an invoice that was added meanwhile", () =>
    Effect.gen(function*() {
      const lines = [
        "710001,10001,MUG,3,1/2/2011 8:00,1.25,,Netherlands",
        "C710002,10001,MUG,-2,1/2/2011 8:05,1.25,,Netherlands"
      ]
      yield* run(yield* aFile(...lines))
      const { result } = yield* run(yield* aFile(...lines, "710003,10001,MUG,4,1/2/2011 9:00,1.25,,Netherlands"))
      assert.deepStrictEqual(result.differences, [])
      assert.deepStrictEqual([result.ordersFound, result.ordersPlaced], [1, 1])
      assert.deepStrictEqual([result.productsFound, result.productsCreated, result.pricesSet], [1, 0, 0])
      // Two units came back and are sold first, so the second invoice over four receives two more and nothing is left.
      assert.deepStrictEqual([result.unitsReceived, result.unitsReturned], [2, 0])
      assert.strictEqual(yield* onHand("stock-10001"), 0)
    }))

  it.effect("puts the goods of a cancellation back into stock", () =>
    Effect.gen(function*() {
      const path = yield* aFile("C720001,20002,PLASTERS IN TIN,-12,1/3/2011 10:24,1.65,17548,United Kingdom")
      const { result } = yield* run(path)
      assert.deepStrictEqual([result.ordersPlaced, result.unitsReturned], [0, 12])
      assert.strictEqual(yield* onHand("stock-20002"), 12)
    }))

  it.effect("refuses what cannot be sold and lists each line with its reason", () =>
    Effect.gen(function*() {
      const path = yield* aFile(
        "730001,22139,,56,1/4/2011 11:52,0,,United Kingdom",
        "730002,30003,LANTERN,1,1/4/2011 11:53,3.39,,United Kingdom",
        "730002,30003,LANTERN,-1,1/4/2011 11:53,3.39,,United Kingdom",
        "730002,30003,LANTERN,two,1/4/2011 11:53,3.39,,United Kingdom",
        "730002,30004,HALF A PENNY,1,1/4/2011 11:53,0.005,,United Kingdom",
        "730002,30004,NEGATIVE,1,1/4/2011 11:53,-1.50,,United Kingdom",
        "730002,30004,TOO MANY,80995,1/4/2011 11:53,1.04,,United Kingdom",
        "730002",
        "A730003,B,Adjust bad debt,1,1/4/2011 11:54,11062.06,,United Kingdom",
        "C730004,D,Discount,-1,1/4/2011 11:55,27.5,14527,United Kingdom",
        "C730004,30003,LANTERN,1,1/4/2011 11:55,3.39,14527,United Kingdom"
      )
      const { printed, result } = yield* run(path)
      assert.deepStrictEqual(result.refused.map(({ line, reason }) => [line, reason]), [
        [2, "no price"],
        [4, "an invoice over -1 units"],
        [5, `quantity "two" is no whole number`],
        [6, `"0.005" is not an amount in GBP.`],
        [7, "negative price -1.50"],
        [8, "more than 9999 units in one line"],
        [9, "incomplete"],
        [10, "neither an invoice nor a cancellation"],
        [11, "a charge or discount: there are no goods to put back"],
        [12, "a cancellation that takes back -1 units"]
      ])
      assert.strictEqual(result.linesRead, 11)
      assert.strictEqual((yield* orderOf("730002")).subtotal, 339)
      assert.include(printed.join("\n"), "line 2, invoice 730001, 22139: no price")
    }))

  it.effect("says so when an order is not what its invoice says", () =>
    Effect.gen(function*() {
      yield* run(yield* aFile("740001,40004,CLOCK,2,1/5/2011 8:00,4.95,,France"))
      const { result } = yield* run(yield* aFile("740001,40004,CLOCK,3,1/5/2011 8:00,4.95,,France"))
      assert.strictEqual(result.differences.length, 4)
      assert.include(result.differences[0], "subtotal is 990, the invoice has 1485")
    }))

  it.effect("fails with one line where it cannot begin", () =>
    Effect.gen(function*() {
      const absent = yield* Effect.flip(run("/nowhere/invoices.csv"))
      assert.strictEqual(absent.message, "/nowhere/invoices.csv cannot be read.")
      const path = yield* aFile("750001,50005,BELL,1,1/6/2011 8:00,1.00,,France")
      const deaf = yield* Effect.flip(replay({ baseUrl: "http://127.0.0.1:9", key: "", path, print: () => {} }))
      assert.include(deaf.message, "Nothing answers at http://127.0.0.1:9.")
      const { url } = yield* TestApp
      const outsider = yield* Effect.flip(replay({ baseUrl: url, key: "wrong", path, print: () => {} }))
      assert.include(outsider.message, "was answered 401")
    }))
})

const sample = fileURLToPath(new URL("../../../shared/data/online-retail-sample.csv", import.meta.url))

// The data is not part of the project: without it beside the project, the replay is not registered and a line says so.
if (existsSync(sample)) {
  withApp("a replay of a morning of real invoices", (it) => {
    // `npm run chaos` replays the whole day.
    it.effect("adds all five orders up to the penny, and finds them again", () =>
      Effect.gen(function*() {
        const [, ...lines] = readFileSync(sample, "utf8").split(/\r?\n/)
        const path = yield* aFile(...lines.slice(100, 160))
        const { result } = yield* run(path)
        assert.deepStrictEqual(result.differences, [])
        assert.strictEqual(result.linesRead, 60)
        assert.strictEqual(result.ordersPlaced, 5)
        assert.strictEqual(result.refused.length, 1)
        const again = (yield* run(path)).result
        assert.deepStrictEqual(again.differences, [])
        assert.deepStrictEqual([again.ordersPlaced, again.ordersFound, again.productsCreated], [0, 5, 0])
        assert.deepStrictEqual([again.pricesSet, again.unitsReceived, again.unitsReturned], [0, 0, 0])
      }))
  })
} else {
  it("knows where the real invoices would be", () => {
    console.log(`no replay of real invoices: ${sample} is not there`)
    assert.isFalse(existsSync(sample))
  })
}
