import { Context } from "effect"
import { Access, type AccessRule } from "../../domain/access/AccessRule.ts"
import { MarkedChange, OwnIdempotency } from "../middleware/Idempotency.ts"
import { RouteRate } from "../server/RouteRate.ts"

/** Annotation of a call that changes something: it takes an `idempotency-key`. */
export class Changes extends Context.Service<Changes, true>()("stoa/http/rpc/Changes") {}

/** Annotation of a call: the route that does the same, `POST /api/carts`. */
export class SameAs extends Context.Service<SameAs, string>()("stoa/http/rpc/SameAs") {}

/** A route, as far as a call takes after it. */
interface Route {
  readonly method: string
  readonly path: string
  readonly annotations: Context.Context<never>
}

const kept = [Access, MarkedChange, OwnIdempotency, RouteRate]

/**
 * What a call has from the route that does the same: who may make it, its own limit, how it keeps to an
 * `Idempotency-Key`. Taken and not repeated, so that the two cannot drift apart.
 */
export const likeRoutes =
  <Name extends string>(group: { readonly endpoints: Readonly<Record<Name, Route>> }) =>
  (name: Name): Context.Context<never> => {
    const endpoint = group.endpoints[name]
    const taken = Context.makeUnsafe<never>(
      new Map([...endpoint.annotations.mapUnsafe].filter(([key]) => kept.some((one) => one.key === key)))
    )
    const named = Context.add(taken, SameAs, `${endpoint.method} ${endpoint.path}`)
    return endpoint.method === "GET" ? named : Context.add(named, Changes, true)
  }

/** What a change has that no route makes: who may make it. */
export const changeBy = (rule: AccessRule): Context.Context<Access | Changes> =>
  Context.make(Access, rule).pipe(Context.add(Changes, true))
