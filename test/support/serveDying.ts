import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import type { Hook } from "../../src/domain/platform/hooks/Hook.ts"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"

/** The process ends as by `kill -9` after the change that STOA_TEST_DIE_AFTER names was made and before it is answered. */
const dying: Hook = {
  key: process.env["STOA_TEST_DIE_AFTER"] ?? "",
  after: () => Effect.sync(() => process.kill(process.pid, "SIGKILL"))
}

const serve = Effect.gen(function*() {
  const settings = yield* readSettings({ hooks: [dying] })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
