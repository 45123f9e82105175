import type { PayoutAdapter, Transfer, TransferOutcome } from "../../payouts/PayoutAdapter.ts"

/** The calls of the adapter, and the money it moved for a key: once, for any number of calls and for any response. */
export interface PayoutEmulator {
  readonly adapter: PayoutAdapter
  readonly calls: () => ReadonlyArray<Transfer>
  /** Money that was moved, by key. */
  readonly moved: () => ReadonlyMap<string, Transfer>
  /** What went to a vendor in all, minor units of a currency. */
  readonly paid: (vendorId: string, currency?: string) => number
  /** What is done with the next calls, for this vendor. Default: pays. */
  readonly behave: (vendorId: string, behaviour: Behaviour) => void
  /** The next call for this vendor is answered, with a payment, when the function that this gives is called. */
  readonly answerLater: (vendorId: string) => () => void
}

/** `lost`: pays, and its answer does not arrive. `garbled`: pays, and leaves half of its answer out. */
export type Behaviour = "pay" | "refuse" | "hold" | "throw" | "reject" | "lost" | "silent" | "garbled"

/** An adapter and the bank behind it. */
export const payoutEmulator = (): PayoutEmulator => {
  const calls: Array<Transfer> = []
  const moved = new Map<string, Transfer>()
  const behaviours = new Map<string, Behaviour>()
  const waiting = new Map<string, Promise<void>>()

  const outcomeOf = (transfer: Transfer, behaviour: Behaviour): Promise<TransferOutcome> => {
    const pay = () => moved.set(transfer.idempotencyKey, moved.get(transfer.idempotencyKey) ?? transfer)
    switch (behaviour) {
      case "pay":
        pay()
        return Promise.resolve({ status: "completed", reference: `tr_${transfer.idempotencyKey}` })
      case "refuse":
        return Promise.resolve({ status: "failed", reason: "The account is closed." })
      case "hold":
        return Promise.resolve({ status: "processing", reference: "tr_waiting" })
      case "throw":
        throw new Error("The line is down.")
      case "reject":
        return Promise.reject(new Error("The line is down."))
      case "lost":
        pay()
        return Promise.reject(new Error("The answer was lost."))
      case "garbled":
        pay()
        return Promise.resolve(JSON.parse(`{ "status": "completed" }`))
      case "silent":
        return new Promise(() => {})
    }
  }

  return {
    adapter: {
      name: "emulated",
      transfer: (transfer) => {
        calls.push(transfer)
        const later = waiting.get(transfer.vendorId)
        waiting.delete(transfer.vendorId)
        return later === undefined
          ? outcomeOf(transfer, behaviours.get(transfer.vendorId) ?? "pay")
          : later.then(() => outcomeOf(transfer, "pay"))
      }
    },
    calls: () => calls,
    moved: () => moved,
    paid: (vendorId, currency = "USD") =>
      [...moved.values()].filter((one) => one.vendorId === vendorId && one.currency === currency)
        .reduce((sum, { amount }) => sum + amount, 0),
    behave: (vendorId, behaviour) => behaviours.set(vendorId, behaviour),
    answerLater: (vendorId) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.set(vendorId, promise)
      return resolve
    }
  }
}
