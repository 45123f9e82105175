import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { replay } from "../../scripts/replay/Replay.ts"
import { TestApp, testAppLayer } from "../support/TestApp.ts"

const sample = fileURLToPath(new URL("../../../shared/data/online-retail-sample.csv", import.meta.url))

const day = Effect.flatMap(
  TestApp,
  ({ url }) => replay({ baseUrl: url, key: "dev-admin-key", path: sample, print: () => {} })
)

it.live("a replay of a day of real invoices adds all 63 orders up to the penny, and finds them again", () =>
  Effect.gen(function*() {
    // The data is not part of the project.
    if (!existsSync(sample)) return console.log(`no replay of real invoices: ${sample} is not there`)
    const result = yield* day
    assert.deepStrictEqual(result.differences, [])
    assert.strictEqual(result.linesRead, 1071)
    assert.strictEqual(result.ordersPlaced, 63)
    assert.strictEqual(result.refused.length, 2)
    const again = yield* day
    assert.deepStrictEqual(again.differences, [])
    assert.deepStrictEqual([again.ordersPlaced, again.ordersFound, again.productsCreated], [0, 63, 0])
    assert.deepStrictEqual([again.pricesSet, again.unitsReceived, again.unitsReturned], [0, 0, 0])
  }).pipe(Effect.provide(testAppLayer())))
