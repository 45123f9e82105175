import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Layer, Logger } from "effect"
import { calmly } from "../../src/layers/telemetry/Logs.ts"
import { fuzz, report, targetOf } from "./Fuzz.ts"
import { neverSucceeding } from "./NotOffered.ts"
import { everyWay, wholeDeployment } from "./World.ts"

/** Another one for each run, and the one of a run that failed to see it again: `STOA_FUZZ_SEED=… npx vitest run …`. */
const seed = Number(process.env["STOA_FUZZ_SEED"] ?? Date.now() % 1_000_000)

/** What the deployment logs, as operators read it. */
const logged: Array<string> = []
const log = Logger.make(({ cause, message }) => {
  logged.push([message, ...cause.reasons.length === 0 ? [] : [Cause.pretty(cause)]].flat().map(String).join("\n"))
})

layer(Layer.provide(wholeDeployment, Logger.layer([calmly(log)])), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the document", (it) => {
  it.effect("foresees every answer, and every operation of it can succeed", () =>
    Effect.gen(function*() {
      const target = yield* targetOf(seed)
      const cast = yield* everyWay(target, "org_fuzz")
      const unmet = target.operations.filter(({ name }) => !target.succeeded.has(name) && !neverSucceeding.has(name))
      assert.deepStrictEqual(unmet.map(({ name }) => name), [])
      yield* fuzz(target, target.operations, 400, cast)
      assert.deepStrictEqual(report(target), [], `seed ${seed}`)
      // Nothing that clients send is a defect, so no line has a stack, and few requests deserve one at all.
      assert.deepStrictEqual(logged.filter((text) => text.includes("\n    at ")), [], `seed ${seed}`)
      assert.isBelow(logged.join("\n").split("\n").length, target.operations.length * 4)
    }))
})
