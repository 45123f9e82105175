import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fuzz, report, targetOf } from "../fuzz/Fuzz.ts"
import { neverSucceeding } from "../fuzz/NotOffered.ts"
import { everyWay, wholeDeployment } from "../fuzz/World.ts"

const seed = Number(process.env["STOA_FUZZ_SEED"] ?? Date.now() % 1_000_000)
const requests = Number(process.env["STOA_FUZZ_REQUESTS"] ?? 100_000)
/** Requests to a store, whose records are changed and deleted meanwhile, before there is a new one. */
const perStore = 5_000

layer(wholeDeployment, { excludeTestServices: true, timeout: "60 seconds" })(
  "100,000 requests from the document",
  (it) => {
    it.effect("are answered as it says, and every operation succeeds", () =>
      Effect.gen(function*() {
        const target = yield* targetOf(seed)
        for (let store = 0; target.sent() < requests; store++) {
          const cast = yield* everyWay(target, `org_fuzz_${store}`)
          yield* fuzz(target, target.operations, Math.min(perStore, requests - target.sent()), cast)
          // What is wrong once is wrong again, so stop here.
          assert.deepStrictEqual(report(target), [], `seed ${seed}, after ${target.sent()} requests`)
        }
        const unmet = target.operations.filter(({ name }) => !target.succeeded.has(name) && !neverSucceeding.has(name))
        assert.deepStrictEqual(unmet.map(({ name }) => name), [])
        yield* Effect.logInfo(`${target.sent()} requests, seed ${seed}`)
      }))
  }
)
