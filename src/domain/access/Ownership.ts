import { type Actor, holds } from "./Actor.ts"

/*
 * Who owns a record and who may act for others (contract, platform §5, own/self enforcement): the one place of these
 * rules. They check permissions and never role names, so that a deployment's roles count as well.
 */

/**
 * Whether the actor works for the shop (contract §2): they may name the customer of a cart, serve guests' carts and are
 * no customer. True for actors that may read all customers or order for others.
 */
export const actsForShop = (actor: Actor): boolean =>
  holds(actor, "customers:read") || holds(actor, "orders:create:on-behalf")

/** Whether customers and groups named in a checkout or a promotion trial apply (contract §3.1, platform §8). */
export const mayNameCustomers = (actor: Actor): boolean => holds(actor, "customers:read")

/** Whether the actor may read or change a guest's cart without its secret (contract §2). */
export const servesGuests = (actor: Actor, permission: "cart:read" | "cart:update"): boolean =>
  actsForShop(actor) && holds(actor, permission)

/** Whether a record belongs to the actor's user, and the scoped `permission` allows the access. */
export const isOwn = (actor: Actor, userId: string | null, permission: `${string}:${"own" | "self"}`): boolean =>
  actor.type === "user" && actor.userId !== null && actor.userId === userId && holds(actor, permission)
