import { type Actor, holds } from "./Actor.ts"

/*
 * Whose a record is and who may act for others (contract, platform §5, own/self enforcement): the one place where these
 * rules are. Permissions decide and never the name of a role, so that a role of the deployment's own counts as well.
 */

/**
 * Whether somebody works for the shop and not for himself: he may name the customer of a cart, serves the carts of guests
 * and is nobody's customer himself (contract §2). Whoever may read all customers does, and whoever may order for others.
 */
export const actsForShop = (actor: Actor): boolean =>
  holds(actor, "customers:read") || holds(actor, "orders:create:on-behalf")

/** Whether customers and groups that he names in a checkout or a trial count (contract §3.1, platform §8). */
export const mayNameCustomers = (actor: Actor): boolean => holds(actor, "customers:read")

/** Whether he may read or change the cart of a guest without its secret (contract §2). */
export const servesGuests = (actor: Actor, permission: "cart:read" | "cart:update"): boolean =>
  actsForShop(actor) && holds(actor, permission)

/** Whether a record of a user is the actor's own, and he may do with it what `permission` says of own ones. */
export const isOwn = (actor: Actor, userId: string | null, permission: `${string}:${"own" | "self"}`): boolean =>
  actor.type === "user" && actor.userId !== null && actor.userId === userId && holds(actor, permission)
