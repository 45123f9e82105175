import { Effect } from "effect"
import { atOnce } from "../support/AtOnce.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { api, asAdmin, TestApp } from "../support/TestApp.ts"

/** Sends them while another transaction holds what `lock` locks; they see its changes. */
export const inOneMoment = <A, E, R>(lock: Parameters<typeof atOnce>[0], all: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.flatMap(TestApp, ({ databaseUrl }) => Effect.provide(atOnce(lock, all), sharedClient(databaseUrl)))

/** Asks for an order that staff writes. */
export const write = (body: object, as: typeof asAdmin = asAdmin, headers = {}) =>
  api("POST", "/api/orders", { as, body: { currency: "USD", ...body }, headers })

export const setStatus = (order: { readonly id: string }, status: string, as: typeof asAdmin = asAdmin, more = {}) =>
  api("PATCH", `/api/orders/${order.id}/status`, { as, body: { status, ...more } })
