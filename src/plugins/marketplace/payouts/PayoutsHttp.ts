import { Effect } from "effect"
import { ownVendor } from "../parties/VendorPortal.ts"
import { PayoutEnds } from "./PayoutEnds.ts"
import { PayoutRuns } from "./PayoutRuns.ts"
import { Payouts } from "./Payouts.ts"
import {
  completePayout,
  failPayout,
  listOwnPayouts,
  listPayouts,
  readPayout,
  retryPayout,
  runPayouts
} from "./PayoutsApi.ts"

export const payoutRoutes = [
  listPayouts.handle(({ page, query: { status, vendorId } }) =>
    Effect.flatMap(Payouts, (payouts) => payouts.list({ status, vendorId }, page))
  ),
  readPayout.handle(({ params }) => Effect.flatMap(Payouts, (payouts) => payouts.get(params.id))),
  runPayouts.handle(({ input }) => Effect.flatMap(PayoutRuns, (runs) => runs.run(input ?? {}))),
  retryPayout.handle(({ params }) => Effect.flatMap(Payouts, (payouts) => payouts.retry(params.id))),
  completePayout.handle(({ input, params }) =>
    Effect.flatMap(PayoutEnds, (ends) => ends.complete(params.id, input.reference))
  ),
  failPayout.handle(({ input, params }) => Effect.flatMap(PayoutEnds, (ends) => ends.fail(params.id, input.reason))),
  listOwnPayouts.handle(({ actor, page, query: { status } }) =>
    Effect.flatMap(Payouts, (payouts) => payouts.list({ status, vendorId: ownVendor(actor) }, page))
  )
]
