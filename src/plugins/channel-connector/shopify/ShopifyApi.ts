import { Effect, Redacted, Schema, Semaphore } from "effect"
import type { StoreAccess } from "../ChannelAdapter.ts"
import * as Errors from "../ChannelErrors.ts"
import { type ShopifyCredentials, shopifyError } from "./ShopifyApp.ts"

export const { Array: List, Finite, Int, NullOr, optional, String: Text, Struct } = Schema

const Throttle = Struct({ currentlyAvailable: Finite, restoreRate: Finite })
const Failure = Struct({ message: Text, extensions: optional(Struct({ code: optional(Text) })) })
const Cost = Struct({ requestedQueryCost: Finite, throttleStatus: Throttle })
const readAnswer = Schema.decodeUnknownEffect(Schema.fromJsonString(Struct({
  data: optional(Schema.Unknown),
  errors: optional(List(Failure)),
  extensions: optional(Struct({ cost: optional(Cost) }))
})))

const UserErrors = List(Struct({ message: Text, code: optional(NullOr(Text)) }))

/** Answer of a mutation with the alias `done`. */
export const Done = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Struct({ done: Struct({ ...fields, userErrors: UserErrors }) })

/** A page of a connection. */
export const Page = <A>(node: Schema.Codec<A, unknown>) =>
  Struct({ nodes: List(node), pageInfo: Struct({ hasNextPage: Schema.Boolean, endCursor: NullOr(Text) }) })
export const paged = (fields: string) => `nodes { ${fields} } pageInfo { hasNextPage endCursor }`

/** Ids are numbers, as in webhooks; only queries have global ids. */
export const gid = (type: string, id: string): string => id.startsWith("gid:") ? id : `gid://shopify/${type}/${id}`
export const numberIn = (id: string): string => id.slice(id.lastIndexOf("/") + 1)

/** Makes the error of an answer of an unknown form. The call may have taken effect, so it is no refusal. */
export const nonsense = () => new Errors.ChannelUnavailable({ message: "The store answered something unknown." })

/** Makes an error of what a mutation refuses; limits only ask to come back. */
export const refusal = ([error]: typeof UserErrors.Type) => {
  if (error === undefined) return nonsense()
  const { code, message } = error
  return /too many|in_progress|limit_reached|concurrent/i.test(`${code} ${message}`)
    ? new Errors.ChannelUnavailable({ message, retryAfterMs: 30_000 })
    : new Errors.ChannelRefused({ message })
}

/** Calls the Admin API of a store. */
export type ShopifyCall = <A>(
  data: Schema.Codec<A, unknown>,
  query: string,
  variables?: object
) => Effect.Effect<A, Errors.ChannelError>

/** Calls that would wait longer or more often fail, and the caller waits. */
const [longestPauseMs, mostPauses] = [10_000, 5]
const passing: ReadonlyArray<string | undefined> = ["INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT"]

const failureOf = ({ extensions, message: whole }: typeof Failure.Type, cost: typeof Cost.Type | undefined) => {
  const [message, code] = [whole.slice(0, 500), extensions?.code]
  if (passing.includes(code)) return new Errors.ChannelUnavailable({ message })
  if (code !== "THROTTLED") return new Errors.ChannelRefused({ message })
  const { currentlyAvailable, restoreRate } = cost?.throttleStatus ?? { currentlyAvailable: 0, restoreRate: 1 }
  const pauseMs = ((cost?.requestedQueryCost ?? 1) - currentlyAvailable) / restoreRate * 1_000
  return new Errors.ChannelUnavailable({ message, retryAfterMs: Math.min(Math.max(pauseMs || 0, 500), 60_000) })
}

const isPause = (error: Errors.ChannelError): error is Errors.ChannelUnavailable =>
  error._tag === "ChannelUnavailable" && (error.retryAfterMs ?? Infinity) <= longestPauseMs

/** Makes calls with one version of the API, and warns where another one answers. */
export const shopifyApi = (version: string) => {
  let warned = version
  return ({ credentials, domain, http }: StoreAccess<ShopifyCredentials>): ShopifyCall => {
    const keys = Redacted.value(credentials)
    const once = Effect.fnUntraced(function*(query: string, variables: object) {
      if (!("accessToken" in keys)) return yield* new Errors.CredentialsRefused({ message: "There is no token yet." })
      const { body, headers } = yield* http.request({
        url: `${domain}/admin/api/${version}/graphql.json`,
        headers: { "x-shopify-access-token": keys.accessToken },
        body: { query, variables }
      }).pipe(Effect.mapError(shopifyError))
      const served = String(headers["x-shopify-api-version"] ?? version).slice(0, 20)
      if (served !== version && served !== warned) {
        warned = served
        yield* Effect.logWarning(`${domain} answers with version ${served} of the Shopify API, not with ${version}.`)
      }
      const { data, errors: [error] = [], extensions } = yield* Effect.mapError(readAnswer(body), nonsense)
      return error === undefined ? data : yield* failureOf(error, extensions?.cost)
    })
    const patiently = (query: string, variables: object, pauses: number): Effect.Effect<unknown, Errors.ChannelError> =>
      Effect.catchIf(once(query, variables), isPause, (error) =>
        pauses === 0
          ? Effect.fail(error)
          : Effect.delay(patiently(query, variables, pauses - 1), error.retryAfterMs ?? 0))
    // Calls that wait for points at the same time would take each other's.
    const turn = Semaphore.makeUnsafe(1)
    return (data, query, variables = {}) =>
      Effect.flatMap(
        Effect.catchIf(
          once(query, variables),
          isPause,
          () => turn.withPermit(patiently(query, variables, mostPauses))
        ),
        (found) => Effect.mapError(Schema.decodeUnknownEffect(data)(found), nonsense)
      )
  }
}
