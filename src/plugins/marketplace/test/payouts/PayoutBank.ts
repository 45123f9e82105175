import { Effect } from "effect"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { listening } from "../../../../../test/support/Listening.ts"
import type { Transfer } from "../../payouts/PayoutAdapter.ts"
import { payoutEmulator } from "./PayoutEmulator.ts"

/** Before the money of a transfer is moved, or after that but before the response. */
type Moment = "before" | "after"

/** The bank of the emulator as processes reach it over HTTP; it is closed with the scope. */
export const openBank = Effect.gen(function*() {
  const emulator = payoutEmulator()
  let interruption: { readonly when: Moment; readonly then: () => void } | undefined
  /** True if the caller was stopped. */
  const interrupted = (when: Moment) => {
    if (interruption?.when !== when) return false
    interruption.then()
    interruption = undefined
    return true
  }
  const server = createServer(async (request, response) => {
    const transfer: Transfer = JSON.parse(await text(request))
    if (interrupted("before")) return response.destroy()
    const outcome = await emulator.adapter.transfer(transfer, new AbortController().signal)
    return interrupted("after") ? response.destroy() : response.end(JSON.stringify(outcome))
  })
  const interrupt = (when: Moment, then: () => void) => {
    interruption = { when, then }
  }
  return { ...emulator, url: `http://127.0.0.1:${yield* listening(server)}`, interrupt }
})
