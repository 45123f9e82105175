import { Effect } from "effect"
import { createServer } from "node:http"
import { listening } from "../../../../../test/support/Listening.ts"
import type { Transfer } from "../../payouts/PayoutAdapter.ts"

/** A bank that processes reach over HTTP; it moves the money of a key once. */
export interface PayoutBank {
  readonly url: string
  /** How often a key was asked for, and what was moved for it. */
  readonly asked: () => ReadonlyMap<string, number>
  readonly paid: (vendorId: string) => number
  /** Is called with the next transfer: before its money is moved, or after that but before the response. */
  readonly interrupt: (when: "before" | "after", then: () => void) => void
}

/** Opens one; it is closed with the scope. */
export const openBank = Effect.gen(function*() {
  const asked = new Map<string, number>()
  const moved = new Map<string, Transfer>()
  let interruption: { readonly when: "before" | "after"; readonly then: () => void } | undefined
  /** True if the caller was stopped. */
  const interrupted = (when: "before" | "after") => {
    if (interruption?.when !== when) return false
    interruption.then()
    interruption = undefined
    return true
  }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const transfer: Transfer = JSON.parse(Buffer.concat(chunks).toString())
      const key = transfer.idempotencyKey
      asked.set(key, (asked.get(key) ?? 0) + 1)
      if (interrupted("before")) return response.destroy()
      moved.set(key, moved.get(key) ?? transfer)
      if (interrupted("after")) return response.destroy()
      return response.end(JSON.stringify({ status: "completed", reference: `tr_${key}` }))
    })
  })
  const bank: PayoutBank = {
    url: `http://127.0.0.1:${yield* listening(server)}`,
    asked: () => asked,
    paid: (vendorId) =>
      [...moved.values()].filter((one) => one.vendorId === vendorId).reduce((sum, { amount }) => sum + amount, 0),
    interrupt: (when, then) => {
      interruption = { when, then }
    }
  }
  return bank
})
