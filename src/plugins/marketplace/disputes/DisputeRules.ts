import { Result } from "effect"
import { invalid, InvalidTransition, type RowOf, type ValidationFailed } from "stoa/plugin"
import type { Party } from "../parties/Parties.ts"
import type { disputes, resolutions } from "./DisputeTables.ts"

class TooManyAnswers
  extends invalid("TooManyAnswers", "note", (most: number) => `a dispute takes ${most} answers at most`)
{}
class RefundNeeded
  extends invalid("RefundNeeded", "refundAmountCents", "is needed for refund_partial, and more than 0")
{}
class NoPartialRefund extends invalid(
  "NoPartialRefund",
  "refundAmountCents",
  (resolution: Resolution) => `is said for refund_partial only, not ${resolution}`
) {}

type Dispute = RowOf<typeof disputes>
export type DisputeStatus = Dispute["status"]
export type Resolution = typeof resolutions[number]

/** Most pieces of evidence that a dispute takes. */
export const maxEvidence = 100

/** From which states a dispute gets where; `resolved` is the end. */
const sources = {
  platform_review: ["vendor_response_pending"],
  escalated: ["vendor_response_pending", "platform_review"],
  resolved: ["vendor_response_pending", "platform_review", "escalated"]
} as const

/** 422 INVALID_TRANSITION for a step that the machine does not have (contract, plugins §1.2). */
export const mayBecome = (
  from: DisputeStatus,
  to: keyof typeof sources
): Result.Result<void, InvalidTransition> =>
  sources[to].some((source) => source === from)
    ? Result.succeed(undefined)
    : Result.fail(InvalidTransition.of(`A dispute that is ${from} cannot become ${to}.`))

/** Where an answer brings a dispute: the vendor's first one to the operators, any other one nowhere. */
export const statusAfter = (
  { evidence, status }: Pick<Dispute, "evidence" | "status">,
  party: Party
): Result.Result<DisputeStatus, InvalidTransition | ValidationFailed> => {
  if (status === "resolved") return Result.fail(InvalidTransition.of("A dispute that is resolved takes no answers."))
  if (evidence.length >= maxEvidence) {
    return Result.fail(new TooManyAnswers(maxEvidence))
  }
  return Result.succeed(party === "vendor" && status === "vendor_response_pending" ? "platform_review" : status)
}

/** Resolutions after which the customer gets money back. */
export type Refunding = "all" | "part" | "none"

const refunds: Readonly<Record<Resolution, Refunding>> = {
  refund_full: "all",
  buyer_favor: "all",
  refund_partial: "part",
  replacement: "none",
  rejected: "none",
  vendor_favor: "none"
}

/** What a resolution gives back. An amount belongs to `refund_partial` alone, which needs one: 422. */
export const refundOf = (
  resolution: Resolution,
  amount: number | undefined
): Result.Result<Refunding, ValidationFailed> => {
  const refund = refunds[resolution]
  if (refund === "part" && (amount === undefined || amount === 0)) {
    return Result.fail(new RefundNeeded())
  }
  if (refund !== "part" && amount !== undefined && amount > 0) {
    return Result.fail(new NoPartialRefund(resolution))
  }
  return Result.succeed(refund)
}
