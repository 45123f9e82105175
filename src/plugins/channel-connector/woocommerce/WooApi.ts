import { Effect, Option, Redacted, Schema, Stream } from "effect"
import type { OutboundError, OutboundRequest } from "stoa/plugin"
import type { StoreAccess } from "../ChannelAdapter.ts"
import { type ChannelError, channelError, ChannelRefused, ChannelUnavailable } from "../ChannelErrors.ts"

/** A key of the REST API that may read and write. */
export const WooCredentials = Schema.Struct({
  consumerKey: Schema.NonEmptyString,
  consumerSecret: Schema.NonEmptyString
})

type Query = Readonly<Record<string, string>>
type Row = { readonly id: number }

/** Plugins of WordPress make numbers of texts. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? `${value}` : ""

/** Nonsense is no refusal: an order may have been taken before the page of a proxy came in place of the answer. */
const errorOf = (error: OutboundError | Schema.SchemaError): ChannelError =>
  Schema.isSchemaError(error)
    ? new ChannelUnavailable({ message: "The store answers in another form." })
    : channelError(error)

/** Calls of the REST API v3. The key is for https: over http WooCommerce takes signed requests alone. */
export const wooApi = ({ credentials, domain, http }: StoreAccess<typeof WooCredentials.Type>) => {
  const { consumerKey, consumerSecret } = Redacted.value(credentials)
  const headers = {
    accept: "application/json",
    authorization: `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString("base64")}`
  }

  /** Undefined when it is not there. */
  const call = <A>(schema: Schema.Codec<A, unknown>, path: string, request: Omit<OutboundRequest, "url"> = {}) =>
    http.request({ ...request, url: `${domain}/wp-json/wc/v3/${path}`, headers }).pipe(
      Effect.flatMap(({ body, headers: { "x-wp-total": total } }) =>
        Effect.map(
          Schema.decodeEffect(Schema.fromJsonString(schema))(body),
          (value) => ({ value, total: Number(total) })
        )
      ),
      Effect.catch((error) =>
        error._tag === "OutboundRejected" && error.status === 404 ? Effect.undefined : Effect.fail(errorOf(error))
      )
    )
  const find = <A>(...[schema, path, request]: Parameters<typeof call<A>>) =>
    Effect.map(call(schema, path, request), (found) => found?.value)
  const send = <A>(...[schema, path, request]: Parameters<typeof call<A>>) =>
    Effect.flatMap(call(schema, path, request), (found) =>
      found === undefined
        ? Effect.fail(new ChannelRefused({ message: "The store answered 404." }))
        : Effect.succeed(found.value))

  /**
   * Rows behind a cursor `<last id>:<offset>`. A page begins with a row of the one before: with any other one, rows were removed
   * in front of it, and those that moved up would be left out. WordPress hides rows that it cannot show, so short pages end nothing.
   */
  const page = Effect.fnUntraced(
    function*<A extends Row>(
      schema: Schema.Codec<A, unknown>,
      path: string,
      query: Query,
      cursor: string | null,
      limit: number
    ) {
      const [last = 0, behind = 0] = (cursor ?? "0:0").split(":").map(Number)
      const size = Math.min(limit + 20, 100)
      for (let offset = Math.max(0, behind - 1);; offset = Math.max(0, offset - size + 1)) {
        const place = { orderby: "id", order: "asc", per_page: `${size}`, offset: `${offset}` }
        const found = yield* call(Schema.Array(schema), `${path}?${new URLSearchParams({ ...query, ...place })}`)
        const { total, value: rows } = found ?? { total: 0, value: [] }
        const fresh = rows.filter(({ id }) => id > last)
        if (offset > 0 && fresh.length === rows.length) continue
        const items = fresh.slice(0, limit)
        const end = offset + rows.length - fresh.length + items.length
        const isLast = items.length === fresh.length && !(offset + size < total)
        return { items, nextCursor: isLast ? null : `${items.at(-1)?.id ?? last}:${end}` }
      }
    }
  )

  /** All rows of a list, read a page at a time. */
  const rows = <A extends Row>(schema: Schema.Codec<A, unknown>, path: string, query: Query = {}) =>
    Stream.paginate<string | null, A, ChannelError>(
      null,
      (cursor) =>
        Effect.map(
          page(schema, path, query, cursor, 100),
          ({ items, nextCursor }) => [items, Option.fromNullOr(nextCursor)] as const
        )
    )

  return { find, send, page, rows }
}
export type WooApi = ReturnType<typeof wooApi>
