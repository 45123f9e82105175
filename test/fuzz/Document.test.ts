import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fuzz, report, targetOf } from "./Fuzz.ts"
import { neverSucceeding } from "./NotOffered.ts"
import { everyWay, wholeDeployment } from "./World.ts"

/** Another one for each run, and the one of a run that failed to see it again: `STOA_FUZZ_SEED=… npx vitest run …`. */
const seed = Number(process.env["STOA_FUZZ_SEED"] ?? Date.now() % 1_000_000)

layer(wholeDeployment, { excludeTestServices: true, timeout: "60 seconds" })("the document", (it) => {
  it.effect("foresees every answer, and every operation of it can succeed", () =>
    Effect.gen(function*() {
      const target = yield* targetOf(seed)
      const cast = yield* everyWay(target, "org_fuzz")
      const unmet = target.operations.filter(({ name }) => !target.succeeded.has(name) && !neverSucceeding.has(name))
      assert.deepStrictEqual(unmet.map(({ name }) => name), [])
      yield* fuzz(target, target.operations, 400, cast)
      assert.deepStrictEqual(report(target), [], `seed ${seed}`)
    }), 120_000)
})
