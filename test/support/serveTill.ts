import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { register } from "../plugins/RegisterPlugin.ts"
import { tillPlugin } from "../plugins/TillPlugin.ts"

/** The service with a plugin that takes part in checkouts, and one that sells goods that have left. */
const serve = Effect.gen(function*() {
  const settings = yield* readSettings({ plugins: [tillPlugin, register] })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
