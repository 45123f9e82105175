import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { definePlugin } from "../../src/plugins/kit/StoaPlugin.ts"

const dieAt = Number(process.env["STOA_TEST_DIE_AT"])
let pages = 0

/** Each entity has five stars; the process dies at the page of entities that is named. */
const stars = definePlugin({
  id: "stars",
  version: "1.0.0",
  searchDocuments: () => [{
    name: "stars",
    kind: "number",
    of: (ids) =>
      Effect.sync(() => {
        if (++pages === dieAt) process.kill(process.pid, "SIGKILL")
        return new Map(ids.map((id) => [id, 5]))
      })
  }]
})

const serve = Effect.gen(function*() {
  const settings = yield* readSettings({ plugins: [stars] })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
