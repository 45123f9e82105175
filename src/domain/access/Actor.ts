import { Context, Effect, Schema } from "effect"
import { Forbidden, Unauthorized } from "../errors/ApiErrors.ts"
import { grants, grantsAny } from "./Permission.ts"

/**
 * Who acts and in which organization (contract, platform §2). `organizationId` is always set: every repository takes
 * the tenant from here and never from the request's body. `cartSecret` is what the request showed in `x-cart-secret`.
 * It is a schema because it travels to the cart's and order's actors inside their messages; new fields are optional
 * with a default, since a message may have been written by an older process.
 */
export const Actor = Schema.Struct({
  type: Schema.Literals(["user", "api_key"]),
  userId: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  name: Schema.String,
  vendorId: Schema.NullOr(Schema.String),
  /** What he is among the people of that vendor, in the words of the plugin that has vendors; absent: nothing is known. */
  vendorRole: Schema.optionalKey(Schema.NullOr(Schema.String)),
  organizationId: Schema.String,
  role: Schema.String,
  permissions: Schema.Array(Schema.String),
  cartSecret: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  /** Address and program of the client, as the request showed them; for the change log. */
  ip: Schema.optional(Schema.NullOr(Schema.String)),
  userAgent: Schema.optional(Schema.NullOr(Schema.String)),
  /** The API key that acts; of two keys of one owner, this tells them apart. */
  keyId: Schema.optionalKey(Schema.String),
  /** What a change is made by: a request, or the service's own work. Absent: a caller in this process. */
  source: Schema.optional(Schema.Literals(["rest", "local", "job"])),
  /** The work of the Idempotency-Key of the request; whoever changes something for it marks the change (`IdempotencyRecordRepo`). */
  executionId: Schema.optional(Schema.String)
})
export type Actor = typeof Actor.Type

/**
 * The actor of the request, message or job that is being worked on.
 *
 * @effect-leakable-service
 */
export class CurrentActor extends Context.Service<CurrentActor, Actor>()("stoa/domain/access/CurrentActor") {}

/** The organization of the request: first column of every tenant key. */
export const currentOrganization: Effect.Effect<string, never, CurrentActor> = Effect.map(
  CurrentActor,
  (actor) => actor.organizationId
)

/** Without credentials: an anonymous shopper. He has permissions of his own and is asked to sign in where they end. */
export const isAnonymous = (actor: Actor): boolean => actor.type === "user" && actor.userId === null

/** A person who has signed in: he has a profile, which visitors and API keys have not. */
export const isSignedIn = (actor: Actor): actor is Actor & { readonly userId: string } =>
  actor.type === "user" && actor.userId !== null

/** Does the actor hold this permission? */
export const holds = (actor: Actor, permission: string): boolean => grants(actor.permissions, permission)

/** 401 for a visitor without credentials, 403 for a known actor: what whoever may not do something is told. */
export const refusalOf = (actor: Actor, permission: string): Unauthorized | Forbidden =>
  isAnonymous(actor) ? Unauthorized.of() : Forbidden.of(`Permission '${permission}' is required.`)

/** Fails with 401 for a visitor without credentials and 403 for a known actor when none of the permissions is held. */
export const requireAnyOf = (
  actor: Actor,
  anyOf: ReadonlyArray<string>
): Effect.Effect<void, Unauthorized | Forbidden> =>
  grantsAny(actor.permissions, anyOf) ? Effect.void : Effect.fail(refusalOf(actor, anyOf[0] ?? "*:*"))

/** The actor of the service itself: jobs, sweeps and provider events act as this (contract, platform §2). */
export const systemActor = (organizationId: string, userId = "system:internal"): Actor => ({
  type: "api_key",
  userId,
  email: null,
  name: "System",
  vendorId: null,
  organizationId,
  role: "system",
  permissions: ["*:*"],
  cartSecret: null,
  requestId: null,
  source: "job"
})

/** A visitor without credentials acts as a customer of the organization with these permissions (contract §0.4). */
export const anonymousActor = (organizationId: string, permissions: ReadonlyArray<string>): Actor => ({
  type: "user",
  userId: null,
  email: null,
  name: "Anonymous",
  vendorId: null,
  organizationId,
  role: "customer",
  permissions,
  cartSecret: null,
  requestId: null
})
