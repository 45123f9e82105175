import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { announce, processApp } from "../../../../layers/App.ts"
import { readSettings } from "../../../../layers/config/AppConfig.ts"
import { marketplace } from "../../index.ts"
import type { PayoutAdapter } from "../../payouts/PayoutAdapter.ts"

/** Pays through the bank of the test at STOA_TEST_BANK. */
const payoutAdapter: PayoutAdapter = {
  name: "bank",
  transfer: async (transfer, signal) => {
    const body = JSON.stringify(transfer)
    const response = await fetch(process.env["STOA_TEST_BANK"] ?? "", { method: "POST", body, signal })
    const { reference }: { reference: string } = JSON.parse(await response.text())
    return { status: "completed", reference }
  }
}

const serve = Effect.gen(function*() {
  const settings = yield* readSettings({ plugins: [marketplace({ payoutAdapter })] })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
