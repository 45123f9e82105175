import { Context, Effect, Schema } from "effect"
import { type Forbidden, Unauthorized } from "../errors/ApiErrors.ts"
import { forbidden } from "../errors/ErrorKinds.ts"
import { grants, grantsAny } from "./Permission.ts"

/**
 * Who acts and in which organization (contract, platform §2). `organizationId` is always set: repositories take the
 * tenant from here and never from the request's body. `cartSecret` is the header `x-cart-secret`. It is a schema
 * because cart and order entities receive it in their messages. New fields are optional with a default, since an older
 * process may have written a message.
 */
export const Actor = Schema.Struct({
  type: Schema.Literals(["user", "api_key"]),
  userId: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  name: Schema.String,
  vendorId: Schema.NullOr(Schema.String),
  /** Their role at that vendor, defined by the plugin that has vendors; absent: unknown. */
  vendorRole: Schema.optionalKey(Schema.NullOr(Schema.String)),
  organizationId: Schema.String,
  role: Schema.String,
  permissions: Schema.Array(Schema.String),
  cartSecret: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  /** Address and program of the client, as the request showed them; for the change log. */
  ip: Schema.optional(Schema.NullOr(Schema.String)),
  userAgent: Schema.optional(Schema.NullOr(Schema.String)),
  keyId: Schema.optionalKey(Schema.String),
  /** The source of a change: a request, or the service's work. Absent: a caller in this process. */
  source: Schema.optional(Schema.Literals(["rest", "local", "job"])),
  /**
   * The idempotent execution of the request's Idempotency-Key; a change for it writes its record
   * (`IdempotencyRecordRepo`).
   */
  executionId: Schema.optional(Schema.String)
})
export type Actor = typeof Actor.Type

/**
 * The actor of the current request, message or job.
 *
 * @effect-leakable-service
 */
export class CurrentActor extends Context.Service<CurrentActor, Actor>()("stoa/domain/platform/access/CurrentActor") {}

export const currentOrganization: Effect.Effect<string, never, CurrentActor> = Effect.map(
  CurrentActor,
  (actor) => actor.organizationId
)

/** Without credentials: an anonymous shopper. They have permissions and get 401 beyond them. */
export const isAnonymous = (actor: Actor): boolean => actor.type === "user" && actor.userId === null

/** A signed-in user: they have a profile, which visitors and API keys do not. */
export const isSignedIn = (actor: Actor): actor is Actor & { readonly userId: string } =>
  actor.type === "user" && actor.userId !== null

export const holds = (actor: Actor, permission: string): boolean => grants(actor.permissions, permission)

const unpublishedPermissions = ["catalog:create", "catalog:update", "catalog:read:unpublished"]

/** Shoppers see published entities only; catalog staff see all (contract §1.1, visibility). */
export const seesUnpublished = (actor: Actor): boolean =>
  unpublishedPermissions.some((permission) => holds(actor, permission))

export class PermissionRequired
  extends forbidden("PermissionRequired", (permission: string) => `Permission '${permission}' is required.`)
{}

/** The error of a refused actor: 401 for a visitor without credentials, 403 for an authenticated actor. */
export const refusalOf = (actor: Actor, permission: string): Unauthorized | Forbidden =>
  isAnonymous(actor) ? Unauthorized.of() : new PermissionRequired(permission)

/**
 * Fails with 401 for a visitor without credentials and 403 for an authenticated actor when none of the permissions is
 * held.
 */
export const requireAnyOf = (
  actor: Actor,
  anyOf: ReadonlyArray<string>
): Effect.Effect<void, Unauthorized | Forbidden> =>
  grantsAny(actor.permissions, anyOf) ? Effect.void : Effect.fail(refusalOf(actor, anyOf[0] ?? "*:*"))

/** The actor of the service: jobs, scheduled jobs and provider events act as this (contract, platform §2). */
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

/** The same person with all permissions of the store, without cart secret and idempotency record. */
export const onBehalfOfStore = ({ executionId: _, ...actor }: Actor): Actor => ({
  ...actor,
  permissions: ["*:*"],
  cartSecret: null
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

/**
 * Whether the actor works for the shop (contract §2): they may name the customer of a cart, serve guests' carts and are
 * no customer. True for actors that may read all customers or order for others.
 */
export const actsForShop = (actor: Actor): boolean =>
  holds(actor, "customers:read") || holds(actor, "orders:create:on-behalf")

export const mayNameCustomers = (actor: Actor): boolean => holds(actor, "customers:read")

/** Whether the actor may read or change a guest's cart without its secret (contract §2). */
export const servesGuests = (actor: Actor, permission: "cart:read" | "cart:update"): boolean =>
  actsForShop(actor) && holds(actor, permission)

/** Whether a record belongs to the actor's user, and the scoped `permission` allows the access. */
export const isOwn = (actor: Actor, userId: string | null, permission: `${string}:${"own" | "self"}`): boolean =>
  actor.type === "user" && actor.userId !== null && actor.userId === userId && holds(actor, permission)
