import { assert, describe, it } from "@effect/vitest"
import { StockEntityCache } from "../../src/entities/StockEntityBatch.ts"

const snapshot = (sellable: string) => ({ sellable, version: 1, backordered: 0, levels: [] })

describe("the cache of a stock entity", () => {
  it("the cache of a stock entity never holds more than its capacity and forgets what was used longest ago", () => {
    const memory = new StockEntityCache(2)
    memory.put(snapshot("a"))
    memory.put(snapshot("b"))
    memory.get("a")
    memory.put(snapshot("c"))
    assert.deepStrictEqual([memory.size, memory.get("a")?.sellable, memory.get("b")], [2, "a", undefined])
  })

  it("removes entries by key", () => {
    const memory = new StockEntityCache(5)
    memory.put(snapshot("a"))
    memory.put(snapshot("b"))
    memory.forget("a")
    assert.isUndefined(memory.get("a"))
    memory.clear()
    assert.strictEqual(memory.size, 0)
  })
})
