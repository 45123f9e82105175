import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { definePlugin, table, text } from "../../src/plugins/kit/StoaPlugin.ts"

const handled = table("tracker_handled", { eventId: text })

/** Handles each event, and the first time dies before that is recorded. */
const tracker = definePlugin({
  id: "tracker",
  version: "1.0.0",
  schema: () => [handled],
  onEvents: {
    "customers.*": Effect.fnUntraced(function*({ db, event }) {
      yield* db.table(handled).insert({ eventId: event.id })
      if ((yield* db.table(handled).count({ eventId: event.id })) === 1) process.kill(process.pid, "SIGKILL")
    })
  }
})

const serve = Effect.gen(function*() {
  const settings = yield* readSettings({ plugins: [tracker] })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
