import { assert, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { endpoints } from "../../src/http/docs/Docs.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, live, testAppLayer } from "../support/TestApp.ts"
import { isEmpty } from "../tenancy/OtherTenants.ts"
import { asks, filled, namesIn, type Probe, reads, refusedAnyway, writes } from "../tenancy/Probes.ts"
import { aStore, type Store } from "../tenancy/Stores.ts"
import { aKey, signIn } from "./People.ts"

/*
 * The answers of every route to every role, as a table that people review: `matrix.txt`. After a change of routes or rules,
 * `npm run access:matrix` writes it again: review the difference.
 */

const storeResolver = (request: Request) => request.headers.get("x-store-id")

const withStores = layer(
  testAppLayer({ auth: { storeResolver }, email: { send: async () => {} } }),
  live
)

/** Routes of authentication create their credentials themselves: test/auth. */
const isAuthentication = (path: string) => path.startsWith("/api/auth/")

const routes = () => endpoints().filter(({ path }) => !isAuthentication(path))

/** Every probe of the tests of tenants once for each path, and an empty request for every other route. */
const probes = (): ReadonlyArray<Probe> => {
  const asked = [
    ...new Map([...reads, ...writes, refusedAnyway].map((one) => [`${one.method} ${one.path}`, one])).values()
  ]
  const unasked = routes().filter((route) => !asked.some((one) => asks(one, route)))
  const bare = unasked.map(({ method, path }) => ({ method, path, body: method === "GET" ? undefined : {} }))
  // A user who has deleted their data has no orders any more.
  const last = (probe: Probe) => probe.method === "DELETE"
  return [...bare.filter((probe) => !last(probe)), ...asked, ...bare.filter(last)]
}

/** A visitor of a store with their credentials. */
interface Visitor {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
}

/** A store with one record of each kind; `buyer` is its customer. */
const storeFor = Effect.fnUntraced(function*(organization: string) {
  yield* onDatabase((sql) =>
    sql`insert into organizations (id, slug, name) values (${organization}, ${organization}, ${organization})`
  )
  const buyer = yield* signIn({ active: organization })
  return { buyer, store: yield* aStore(organization, buyer.userId) }
})

type Kind = "owner" | "admin" | "staff" | "buyer" | "shopper" | "anonymous" | "key" | "unknown"

/** The columns of the table; the key has the role staff. */
const kinds: ReadonlyArray<Kind> = ["owner", "admin", "staff", "key", "buyer", "shopper", "anonymous", "unknown"]

const visitorOf = Effect.fnUntraced(
  function*(kind: Kind, organization: string, buyer: { readonly bearer: Visitor["headers"] }) {
    if (kind === "anonymous") return { name: kind, headers: { "x-store-id": organization } }
    if (kind === "buyer") return { name: kind, headers: buyer.bearer }
    if (kind === "key") return { name: kind, headers: (yield* aKey({ role: "staff", organization })).headers }
    const role = kind === "shopper" ? {} : { role: kind === "unknown" ? "no such role" : kind }
    return { name: kind, headers: (yield* signIn({ active: organization, organization, ...role })).bearer }
  }
)

const ask = ({ body, method, path }: Probe, { headers }: Visitor) =>
  api(method, path, { headers, ...(body === undefined ? {} : { body }) })

/** The answers to a visitor about records of their store and of another one: `200/404`, `200/none`. */
const columnOf = Effect.fnUntraced(function*(kind: Kind, theirs: Store) {
  const organization = `org_of_${kind}`
  const { buyer, store } = yield* storeFor(organization)
  const visitor = yield* visitorOf(kind, organization, buyer)
  const foreign = Effect.fnUntraced(function*(probe: Probe) {
    if (namesIn(probe, store).every((name) => store[name] === theirs[name])) return "-"
    const answer = yield* ask(filled(probe, theirs), visitor)
    return isEmpty(answer) ? "none" : String(answer.status)
  })
  return yield* Effect.forEach(probes(), (probe) =>
    Effect.gen(function*() {
      const about = yield* foreign(probe)
      return `${(yield* ask(filled(probe, store), visitor)).status}/${about}`
    }))
})

const pad = (text: string, width: number) => text.padEnd(width)

const tableOf = (columns: ReadonlyArray<ReadonlyArray<string>>): string => {
  const names = probes().map(({ method, path }) => `${pad(method, 6)} ${path}`)
  const width = Math.max(...names.map(({ length }) => length)) + 2
  const rows = names.map((name, row) =>
    `${pad(name, width)}${columns.map((column) => pad(column[row] ?? "", 9)).join(" ")}`.trimEnd()
  )
  const head = `${pad("a record of the caller's store / of another one", width)}${
    kinds.map((one) => pad(one, 9)).join(" ")
  }`
  return `${[head.trimEnd(), ...rows].join("\n")}\n`
}

withStores("every route", (it) => {
  it.effect("every route answers every role as the table says", () =>
    Effect.gen(function*() {
      const { store: theirs } = yield* storeFor("org_of_others")
      const columns = yield* Effect.forEach(kinds, (kind) => columnOf(kind, theirs), { concurrency: 2 })
      const table = tableOf(columns)
      const asked = probes()
      assert.deepStrictEqual(routes().filter((route) => !asked.some((one) => asks(one, route))), [])
      yield* Effect.promise(() => expect(table).toMatchFileSnapshot("matrix.txt"))
    }))
})
