import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"

/** The service of a deployment that trusts the pages of the origins in STOA_TEST_TRUSTED, separated by spaces. */
const serve = Effect.gen(function*() {
  const trustedOrigins = (process.env["STOA_TEST_TRUSTED"] ?? "").split(" ")
  const settings = yield* readSettings({ auth: { trustedOrigins } })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
