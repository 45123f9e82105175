import { DateTime, Effect, Schema } from "effect"
import { hash, randomBytes } from "node:crypto"
import {
  apiError,
  type CurrentActor,
  holds,
  InvalidTransition,
  type PluginCall,
  table,
  Text,
  text,
  timestamp,
  uuid
} from "stoa/plugin"

/** What a supervisor allows once, for a minute (contract-tills-channels §A.8). The token is stored as its SHA-256. */
export const overrides = table("pos_overrides", {
  tokenHash: text.unique(),
  operatorId: text,
  action: text.about("Exception that is allowed, such as price or void."),
  transactionId: uuid.nullable,
  expiresAt: timestamp.until,
  usedAt: timestamp.nullable,
  usedBy: text.nullable
}, { counted: false, indexes: [{ columns: ["expiresAt"] }] })

/** What a supervisor can allow: the list of tills and of plugins that add to them. */
export const actions = [
  "void",
  "price",
  "discount",
  "fired",
  "return",
  "exchange",
  "refund",
  "no-sale",
  "payment",
  "sale"
] as const
export type Action = typeof actions[number]

export const overrideHeader = {
  "x-pos-override": Schema.optional(
    Text.annotate({ description: "A token of POST /auth/override, for callers who may not do this themselves." })
  )
}

export class OverrideRequired extends apiError(
  "OverrideRequired",
  { status: 403, code: "OVERRIDE_REQUIRED" },
  (action: Action) => `A supervisor has to allow this. Send a token for the action "${action}" in x-pos-override.`
) {}
export class OverrideInvalid extends apiError(
  "OverrideInvalid",
  { status: 403, code: "OVERRIDE_INVALID" },
  "The token in x-pos-override was used, has expired, or is for another action. Ask for a new one."
) {}

const digestOf = (token: string): string => hash("sha256", token, "base64url")

const secondsToUse = 60

/** A new token; only its digest is stored. */
export const issueOverride = Effect.fn("Overrides.issue")(function*(
  { db }: Pick<PluginCall, "db">,
  of: { readonly operatorId: string; readonly action: Action; readonly transactionId?: string | undefined }
) {
  const token = randomBytes(32).toString("base64url")
  const now = yield* DateTime.nowAsDate
  const expiresAt = new Date(now.getTime() + secondsToUse * 1_000)
  yield* db.table(overrides).insert({ ...of, tokenHash: digestOf(token), expiresAt })
  return { token, expiresAt, approvedAt: now }
})

/** Why an actor may do something: by a permission, or by a supervisor whose token is spent with it. */
export interface Approval {
  readonly by: string | null
  /** Runs in the transaction of what is allowed. */
  readonly spend: Effect.Effect<void, OverrideInvalid, CurrentActor>
  /** Spends it before work that is no transaction, and gives it back when that fails. */
  readonly during: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | OverrideInvalid, R | CurrentActor>
}

/** For what needs no token. */
export const freely: Approval = { by: null, spend: Effect.void, during: (work) => work }

/** What an approval is asked for. */
export interface Asked {
  readonly action: Action
  /** Its holders need no token. */
  readonly permission: string
  readonly token: string | undefined
  readonly transactionId?: string
}

const isLost = Schema.is(InvalidTransition)

/** 403 `OVERRIDE_REQUIRED` without permission and token; `OVERRIDE_INVALID` for a token that does not fit. */
export const approvalFor = Effect.fn("Overrides.approval")(function*(
  { actor, db }: Pick<PluginCall, "actor" | "db">,
  { action, permission, token, transactionId }: Asked
): Effect.fn.Return<Approval, OverrideInvalid | OverrideRequired, CurrentActor> {
  if (holds(actor, permission)) return freely
  if (token === undefined) return yield* new OverrideRequired(action)
  const now = yield* DateTime.nowAsDate
  const found = yield* db.table(overrides).first({
    tokenHash: digestOf(token),
    action,
    usedAt: null,
    expiresAt: { gt: now }
  })
  const fits = found !== undefined && (found.transactionId === null || found.transactionId === transactionId)
  if (!fits) return yield* new OverrideInvalid()
  const used = { usedAt: now, usedBy: actor.userId ?? actor.keyId ?? null }
  const row = db.table(overrides)
  const spend = row.update(found.id, used, { usedAt: null }).pipe(
    Effect.catch((error) => isLost(error) ? Effect.fail(new OverrideInvalid()) : Effect.die(error)),
    Effect.asVoid
  )
  const restore = Effect.ignore(row.update(found.id, { usedAt: null, usedBy: null }))
  return {
    by: found.operatorId,
    spend,
    during: (work) => Effect.andThen(spend, Effect.tapCause(work, () => restore))
  }
})
