import { assert, describe, it } from "@effect/vitest"
import {
  allOk,
  complaints,
  type HealthChecks,
  judge,
  longestWait,
  nothingCached,
  shardGrace
} from "../../src/layers/health/Readiness.ts"

const shards = [1, 2, 3, 4]

const healthChecks = (found: Partial<HealthChecks>): HealthChecks => ({
  runners: ["a:1"],
  self: undefined,
  shards,
  owned: new Set(shards),
  waitingSince: undefined,
  ...found
})

/** Judges looks one after the other, each at its time in ms, and gives what is wrong at the last one. */
const after = (...looks: ReadonlyArray<readonly [now: number, found: Partial<HealthChecks>]>): string => {
  let remembered = nothingCached
  let wrong = "nobody looked"
  for (const [now, found] of looks) {
    const judged = judge(remembered, healthChecks(found), now)
    remembered = judged.remembered
    wrong = complaints(judged.checks)
    assert.strictEqual(allOk(judged.checks), wrong === "")
  }
  return wrong
}

const three = { owned: new Set([1, 2, 3]) }

describe("readiness", () => {
  it("finds nothing wrong with a deployment that is whole", () => {
    assert.strictEqual(after([0, {}]), "")
  })

  it("misses the runners when none is alive, and itself when it should be one of them", () => {
    assert.strictEqual(after([0, { runners: [] }]), "No runner is alive.")
    assert.strictEqual(after([0, { self: "b:2" }]), "This runner is not registered.")
    assert.strictEqual(after([0, { self: "a:1" }]), "")
  })

  it("gives a shard that lost its owner the time of a fail-over", () => {
    assert.strictEqual(after([0, {}], [1, three], [shardGrace, three]), "")
    assert.strictEqual(after([0, {}], [1, three], [shardGrace + 1, three]), "1 of 4 shards have no owner.")
    assert.strictEqual(after([0, {}], [1, three], [shardGrace, {}], [shardGrace + 1, three]), "")
  })

  it("counts that time for each shard, so that runners may be replaced one after the other", () => {
    const others = { owned: new Set([2, 3, 4]) }
    assert.strictEqual(after([0, {}], [1, three], [9_000, others], [18_000, others]), "")
    assert.strictEqual(after([0, {}], [1, three], [9_000, others], [19_000, others]), "1 of 4 shards have no owner.")
  })

  it("gives no time before the deployment was whole once, nor after it was found broken", () => {
    assert.strictEqual(after([0, three]), "1 of 4 shards have no owner.")
    assert.strictEqual(after([0, {}], [1, { runners: [] }], [2, three]), "1 of 4 shards have no owner.")
    assert.strictEqual(after([0, {}], [1, { owned: new Set() }]), "No shard has an owner.")
    assert.strictEqual(after([0, {}], [1, { owned: new Set() }], [2, three]), "1 of 4 shards have no owner.")
    assert.strictEqual(after([0, {}], [1, { owned: new Set() }], [2, {}], [3, three]), "")
  })

  it("complains of a message that waits for half a minute", () => {
    const waiting = { waitingSince: 1_000 }
    assert.strictEqual(after([999 + longestWait, waiting]), "")
    assert.strictEqual(
      after([1_000 + longestWait, waiting]),
      "A message has been waiting for a runner for more than 30 s."
    )
  })
})
